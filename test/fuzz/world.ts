// The server under test, which is started as an operator starts it, and the organizations that call it.

import { revokeKey } from '../../src/service/keys/revoke-key.ts';
import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { Client, type Reply } from '../support/clients/client.ts';
import { createActor, createScope, giveKey, READ } from '../support/data/actors.ts';
import { createScratchDatabase } from '../support/postgres/postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { createTestOrganization, type TestOrganization } from '../support/servers/server.ts';
import type { KeyKind } from './draft.ts';
import type { Outgoing } from './outgoing.ts';

export type TimedReply = Reply & { readonly seconds: number };

export type World = {
  readonly url: string;
  readonly count: { requests: number };
  newOrganization(): Promise<TestOrganization>;
  /**
   * Sends a request, and sends it again if it is slow or gets no response. Throws if the second attempt gets no response, either.
   */
  send(outgoing: Outgoing, ours: TestOrganization): Promise<TimedReply>;
  close(): Promise<void>;
};

/** A time limit that is longer than every time limit of the server. */
const GIVE_UP_SECONDS = 300;
const SLOW_SECONDS = 5;
const TRIES = 3;
/** How many times longer a request may take than a request at the same moment that does nothing. */
const TIMES_AN_EMPTY_REQUEST = 20;

export async function openWorld(): Promise<World> {
  const scratch = await createScratchDatabase();
  const charter = await startCharter({ DATABASE_URL: scratch.url });
  const db = connectTo(scratch.url);
  const { url } = charter;
  const client = new Client(url, undefined, () => {});
  const count = { requests: 0 };
  const newOrganization = () => createTestOrganization({ db, url });
  const other = await newOrganization();
  const revoked = await issueRevoked();
  const readOnly = new WeakMap<TestOrganization, Promise<string>>();

  async function issueRevoked(): Promise<string> {
    const actor = await createActor(db, await createScope(db), 'administrator');
    const { id, key } = await giveKey(db, actor);
    orThrow(await revokeKey(db, actor, { keyId: id, userId: actor.userId }));
    return key;
  }

  async function issueReadOnly({ email }: TestOrganization): Promise<string> {
    const request = { email, name: 'Read only', permissions: READ, lifeDays: 30, environment: 'live' } as const;
    return (await issueKeyByEmail(db, request)).key;
  }

  async function keyOf(kind: KeyKind, ours: TestOrganization): Promise<string | undefined> {
    if (kind === 'ours') return ours.key;
    if (kind === 'other organization') return other.key;
    if (kind === 'revoked') return revoked;
    if (kind === 'none') return undefined;
    const issued = readOnly.get(ours) ?? issueReadOnly(ours);
    readOnly.set(ours, issued);
    return issued;
  }

  async function sendOnce({ method, url: target, headers, body, key, scheme }: Outgoing, ours: TestOrganization) {
    const value = await keyOf(key, ours);
    const authorization = value === undefined ? {} : { Authorization: `${scheme}${value}` };
    const startedAt = performance.now();
    count.requests += 1;
    const reply = await withinSeconds(
      GIVE_UP_SECONDS,
      client.send(method, target, { headers: { ...authorization, ...headers }, body }),
    );
    return { ...reply, seconds: (performance.now() - startedAt) / 1000 };
  }

  async function secondsOfAnEmptyRequest(): Promise<number> {
    const startedAt = performance.now();
    await client.get('/livez');
    return (performance.now() - startedAt) / 1000;
  }

  return {
    url,
    count,
    newOrganization,
    async send(outgoing, ours) {
      // A busy machine is slow now and then, but a slow server is slow in every attempt.
      const response = await sendOnce(outgoing, ours).catch((error: unknown) => {
        if (error instanceof NoResponseError) return sendOnce(outgoing, ours);
        throw error;
      });
      let { seconds } = response;
      for (let tries = 1; seconds > SLOW_SECONDS && tries < TRIES; tries += 1) {
        const again = (await sendOnce(outgoing, ours)).seconds;
        seconds = Math.min(seconds, again - TIMES_AN_EMPTY_REQUEST * (await secondsOfAnEmptyRequest()));
      }
      return { ...response, seconds };
    },
    async close() {
      await kill(charter);
      await db.close();
      await scratch.drop();
    },
  };
}

class NoResponseError extends Error {}

export async function withinSeconds<T>(seconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoResponseError(`no response within ${seconds} seconds`)), seconds * 1000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export const isSlow = ({ seconds }: TimedReply) => seconds > SLOW_SECONDS;
