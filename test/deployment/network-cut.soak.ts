// The network between one of two servers and PostgreSQL is cut under load: packets get lost, but no connection is closed.

import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { issueKeyByEmail, revokeKeyById } from '../../src/service/operator/keys.ts';
import { isOutage } from '../../src/store/sql/database-errors.ts';
import { Client } from '../support/clients/client.ts';
import { createScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { type Charter, organizationAt, startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { listenLocally } from '../support/servers/port.ts';
import { startIntegrations } from '../support/traffic/integrations.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { length, until } from '../support/wait.ts';

type Network = {
  /** The database URL that leads through this network. */
  readonly url: string;
  /** Cuts the network: from now on nothing arrives, neither data nor the end of a connection. */
  cut(): void;
  /** Ends the cut and delivers, in order, what was sent during the cut, as TCP does. */
  resume(): void;
  /** Ends the cut, discards what was sent during the cut, and resets the connections, as a restarted firewall does. */
  reset(): void;
  close(): Promise<void>;
};

async function networkTo(databaseUrl: string): Promise<Network> {
  const target = new URL(databaseUrl);
  const network = new Forwarding({ host: target.hostname, port: Number(target.port) });
  const server = createServer({ allowHalfOpen: false }, (inward) => network.accept(inward));
  const port = String(await listenLocally(server));
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port });
  return {
    url: url.href,
    cut: () => network.cut(),
    resume: () => network.resume(),
    reset: () => network.reset(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        network.reset();
      }),
  };
}

class Forwarding {
  readonly #target: { host: string; port: number };
  readonly #open = new Set<Socket>();
  /** The deliveries that wait for the end of the cut, in order. `null` if the network is not cut. */
  #held: (() => void)[] | null = null;

  constructor(target: { host: string; port: number }) {
    this.#target = target;
  }

  accept(inward: Socket): void {
    this.#open.add(inward);
    inward.on('error', () => {});
    inward.on('close', () => this.#open.delete(inward));
    // During a cut, a new connection is not joined to its target, and nothing is read from it.
    this.#pass(() => this.#join(inward));
  }

  #join(inward: Socket): void {
    const outward = connect(this.#target);
    this.#open.add(outward);
    outward.on('error', () => {});
    outward.on('close', () => this.#open.delete(outward));
    for (const [from, to] of [
      [inward, outward],
      [outward, inward],
    ] as const) {
      from.on('data', (chunk) => this.#pass(() => void to.write(chunk)));
      from.on('close', () => this.#pass(() => to.destroySoon()));
    }
  }

  #pass(deliver: () => void): void {
    if (this.#held === null) deliver();
    else this.#held.push(deliver);
  }

  cut(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const deliver of held) deliver();
  }

  reset(): void {
    this.#held = null;
    for (const socket of this.#open) socket.resetAndDestroy();
  }
}

const CUT_SECONDS = length({ full: 12, figures: 20 });
/**
 * The longest time from the end of the cut to the first write, which is high in `npm run soak` because the machine may be busy.
 */
const MOST_MS = length({ full: 120_000, figures: 2000 });
/**
 * The longest time for a response. A request waits for the look-up of its key, for a connection, and up to 17 seconds for an SQL
 * query.
 */
const MOST_SECONDS_OF_A_RESPONSE = length({ full: 120, figures: 30 });
const WRITES = length({ full: 40, figures: 200 });
const LIST = '/api/parent_programs';

test.each([
  ['what was sent arrives', 'resume'],
  ['the connections are reset', 'reset'],
] as const)('nothing is lost while the network of a server is cut, and afterwards %s', async (_, end) => {
  const database = await createScratchDatabase();
  const network = await networkTo(database.url);
  const servers: Charter[] = [];
  const db = connectTo(database.url);
  try {
    const cut = await startCharter({ DATABASE_URL: network.url });
    servers.push(cut);
    const whole = await startCharter({ DATABASE_URL: database.url });
    servers.push(whole);
    const organization = await organizationAt(database.url, cut);
    const [elsewhere, waiting] = [await organizationAt(database.url, whole), await organizationAt(database.url, cut)];
    const through = { cut: organization.client, whole: new Client(whole.url, organization.key) };
    const revoked = await issueKeyByEmail(db, {
      email: organization.email,
      name: 'Revoked meanwhile',
      permissions: ['parent_programs:read', 'parent_programs:write'],
      lifeDays: null,
      environment: 'live',
    });
    const integrations = startIntegrations([through.cut, through.whole]);
    const others = startIntegrations([elsewhere.client, elsewhere.client]);
    await integrations.afterMore(WRITES);

    // When the network is cut, a transaction of the server `cut` waits for the lock of an organization, and then gets the lock.
    const { orphan } = await withClient(database.url, async (holder) => {
      const { rows } = await holder.query('select pg_backend_pid() as pid');
      await holder.query('begin');
      await holder.query('select from organizations where id = $1 for no key update', [waiting.id]);
      const headers = { 'Idempotency-Key': 'orphan' };
      const request = waiting.client.post(LIST, { name: 'Orphan' }, { headers });
      suppressUnhandledRejection(request);
      await until('the transaction to wait', async () => {
        const text = 'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))';
        return (await db.pool.query(text, [rows[0].pid])).rowCount === 1;
      });
      network.cut();
      await holder.query('commit');
      return { orphan: request };
    });
    const cutAt = performance.now();
    // Until PostgreSQL ends the transactions of the cut server, these transactions may hold the lock, so an operator may have to
    // try again.
    await until('the revocation', () =>
      revokeKeyById(db, revoked.id).catch((error: unknown) => {
        if (isOutage(error)) return false;
        throw error;
      }),
    );
    const dead = useAgain(new Client(cut.url, revoked.key));
    // PostgreSQL ends the transaction of the cut server before this write has waited too long for the lock.
    const next = new Client(whole.url, waiting.key);
    expect((await untilAdmitted(() => next.post(LIST, { name: 'After the orphan' }))).status).toBe(201);
    await others.afterMore(WRITES);
    await delay(Math.max(0, CUT_SECONDS * 1000 - (performance.now() - cutAt)));

    network[end]();
    const backAt = performance.now();
    await until('a write', async () => (await waiting.client.post(LIST, { name: 'Back' })).status === 201);
    expect(performance.now() - backAt).toBeLessThan(MOST_MS);
    expect((await orphan).status).toBe(503);
    await dead.untilRefused();
    expect(await dead.end()).toEqual(new Set([401, 503]));
    await integrations.afterMore(WRITES);
    const { violations, unavailable, longestMs } = await integrations.end();
    expect(violations).toEqual([]);
    expect(unavailable).not.toEqual([]);
    expect(longestMs).toBeLessThan(MOST_SECONDS_OF_A_RESPONSE * 1000);
    expect(await others.end()).toMatchObject({ violations: [], outages: [] });
    expect([cut.child.exitCode, whole.child.exitCode]).toEqual([null, null]);
  } finally {
    await db.close();
    for (const server of servers) await kill(server);
    await network.close();
    await database.drop();
  }
});

/** Writes again and again with a key that has ended. `end` stops and returns the statuses of the responses. */
function useAgain(client: Client) {
  const statuses = new Set<number>();
  let isEnding = false;
  const run = async () => {
    for (; !isEnding; await delay(20)) statuses.add((await client.post(LIST, { name: 'Dead' })).status);
    return statuses;
  };
  const running = run();
  suppressUnhandledRejection(running);
  return {
    untilRefused: () => until('the refusal of the key', () => statuses.has(401)),
    end() {
      isEnding = true;
      return running;
    },
  };
}

/**
 * Marks the promise as handled, because the test awaits it later. If the test fails earlier, it kills its servers, and the
 * promise's rejection must not hide the cause.
 */
function suppressUnhandledRejection(promise: Promise<unknown>): void {
  promise.catch(() => {});
}
