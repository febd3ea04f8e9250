// Processes are killed, as by a power failure, while they deliver webhooks to receivers that fail at random, and while they send
// mails.
import { setTimeout as delay } from 'node:timers/promises';
import { revokeKeyById } from '../../src/service/operator/keys.ts';
import type { Reply } from '../support/clients/client.ts';
import { createPeople, giveKey } from '../support/data/actors.ts';
import {
  type Endpoint,
  expectedSignature,
  insertEndpoint,
  listDeliveries,
  skipWaits,
} from '../support/data/deliveries.ts';
import { addresseeOf, moveDates, PUBLIC_URL, pathsIn, subjectOf } from '../support/data/key-notices.ts';
import { type Charter, endCharter, startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { type Received, type ScriptedServer, startScriptedServer } from '../support/servers/scripted-server.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';
import { startSmtp } from '../support/servers/smtp.ts';
import { readFeed } from '../support/traffic/feed.ts';
import { length, until } from '../support/wait.ts';

const CHANGES = length({ full: 800, figures: 10_000 });
const KILLS = length({ full: 3, figures: 20 });
const RECEIVERS = 3;
const WRITERS = 4;
const KEYS = 24;
const LIST = '/api/parent_programs';
/**
 * The maximum number of failed attempts of a delivery. It is less than the number of attempts, so that no delivery fails for
 * good.
 */
const MAX_FAILURES = 4;
/** The share of deliveries that may arrive twice although no kill explains it. */
const MAX_DUPLICATES = 0.01;

// This server writes changes, but delivers nothing.
const server = await useServer();
const { db } = server;

type Receiver = ScriptedServer & {
  /** How often each message was accepted, by its webhook-id. */
  readonly accepted: ReadonlyMap<string, number>;
  readonly bodies: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
};

/** Starts a receiver that refuses some attempts and does not respond to others. */
async function startReceiver(secretOf: () => Buffer): Promise<Receiver> {
  const receiver = await startScriptedServer();
  const [accepted, failures, bodies] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, string>(),
  ];
  const problems: string[] = [];
  receiver.play((res, received) => {
    const { id, problem } = check(received, secretOf());
    if (problem !== null) problems.push(problem);
    if ((bodies.get(id) ?? received.body) !== received.body) problems.push(`${id} has another body`);
    bodies.set(id, received.body);
    const failed = failures.get(id) ?? 0;
    const chance = Math.random();
    if (failed >= MAX_FAILURES || chance > 0.3) {
      accepted.set(id, (accepted.get(id) ?? 0) + 1);
      res.writeHead(204).end();
      return;
    }
    failures.set(id, failed + 1);
    if (chance < 0.1) res.socket?.destroy();
    else res.writeHead(chance < 0.2 ? 500 : 302, { Location: '/' }).end('not now');
  });
  return { ...receiver, accepted, bodies, problems };
}

function check(received: Received, secret: Buffer): { id: string; problem: string | null } {
  const id = received.headers['webhook-id'];
  if (typeof id !== 'string') return { id: '', problem: 'no webhook-id' };
  const isSigned = received.headers['webhook-signature'] === expectedSignature(received, secret);
  return { id, problem: isSigned ? null : `${id} is not signed` };
}

/** Creates, changes and deletes programs until there are enough changes. A busy server may refuse some requests with 503. */
async function write({ client }: TestOrganization, changes: number): Promise<void> {
  const ids: string[] = [];
  const requireDone = (reply: Reply) => {
    if (reply.status !== 503) expect([200, 201, 204]).toContain(reply.status);
    return reply.status !== 503;
  };
  for (let i = 0; i < changes; i += 1) {
    const id = ids.at(-1);
    if (id === undefined || i % 3 === 0) {
      const created = await client.post(LIST, { name: `Program ${i}` });
      if (requireDone(created)) ids.push(created.body.id);
    } else if (i % 3 === 1) requireDone(await client.patch(`${LIST}/${id}`, { description: `Change ${i}` }));
    else requireDone(await client.delete(`${LIST}/${ids.pop()}`));
  }
}

const start = () =>
  startCharter({
    DATABASE_URL: server.databaseUrl,
    WEBHOOKS_ALLOW_HTTP: 'true',
    WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1',
  });

test(`with ${KILLS} kills of two processes, each of ${CHANGES} changes is delivered to each of ${RECEIVERS} receivers, and none that did not happen`, async () => {
  const ours = await createTestOrganization(server);
  const endpoints: Endpoint[] = [];
  const receivers: Receiver[] = [];
  for (let i = 0; i < RECEIVERS; i += 1) {
    const receiver = await startReceiver(() => endpoints[i]?.secret ?? Buffer.alloc(0));
    receivers.push(receiver);
    endpoints.push(await insertEndpoint(db, ours.id, { url: receiver.url }));
  }
  const received = () => receivers.reduce((sum, { accepted }) => sum + accepted.size, 0);
  const running: Charter[] = [await start(), await start()];
  let isOver = false;
  const skipping = (async () => {
    while (!isOver) {
      await skipWaits(db);
      await delay(200);
    }
  })();
  const writing = Promise.all(Array.from({ length: WRITERS }, () => write(ours, CHANGES / WRITERS)));
  try {
    for (let i = 0; i < KILLS; i += 1) {
      const due = ((i + 1) * CHANGES * RECEIVERS) / (KILLS + 2);
      await until('more deliveries', () => received() >= due, { seconds: 600 });
      const killed = running.shift();
      if (killed !== undefined) await kill(killed);
      running.push(await start());
    }
    await writing;
    const deliveries = RECEIVERS * (await db.prisma.event.count({ where: { organizationId: ours.id } }));
    await until('every delivery', async () => received() === deliveries && (await pending()) === 0, { seconds: 600 });
  } finally {
    isOver = true;
    await Promise.all([skipping, ...running.map(kill)]);
    for (const receiver of receivers) await receiver.close();
  }
  const { events } = await readFeed(ours.client, { query: 'limit=100' });
  const told = new Map(events.map((event) => [event.id, JSON.stringify(event)]));
  expect(told.size).toBeGreaterThan(CHANGES / 2);
  let [explained, unexplained] = [0, 0];
  for (const [i, { accepted, bodies, problems }] of receivers.entries()) {
    expect(problems).toEqual([]);
    expect(new Map([...bodies].toSorted(byId))).toEqual(new Map([...told].toSorted(byId)));
    const endpoint = endpoints[i];
    if (endpoint === undefined) continue;
    for (const { messageId, state, attempts, log } of await listDeliveries(db, endpoint)) {
      expect({ messageId, state }).toEqual({ messageId, state: 'succeeded' });
      if ((accepted.get(messageId) ?? 0) <= 1) continue;
      // An attempt without a result was in progress when its process was killed.
      if (attempts > log.length) explained += 1;
      else unexplained += 1;
    }
  }
  console.log(`${explained} duplicates that the kills explain, ${unexplained} others`);
  expect(unexplained).toBeLessThan(CHANGES * RECEIVERS * MAX_DUPLICATES);
});

test('two processes that are killed while they send, and start again, mail each notice once, and lose none', async () => {
  const smtp = await startSmtp({ isSlow: true });
  const env = { DATABASE_URL: server.databaseUrl, PUBLIC_URL, SMTP_URL: smtp.url, MAIL_FROM: 'charter@example.org' };
  let processes: Charter[] = [];
  const startBoth = async () => {
    processes = await Promise.all([startCharter(env), startCharter(env)]);
  };
  try {
    const expected: string[] = [];
    const people = [await createPeople(db), await createPeople(db), await createPeople(db)];
    for (let i = 0; i < KEYS; i += 1) {
      const { member } = people[i % people.length] ?? people[0] ?? (await createPeople(db));
      const { id } = await giveKey(db, member, { name: `Key ${i}` });
      await moveDates(db, id, { createdAgo: 200, usedAgo: 1, expiresIn: 7 });
      expected.push(`${member.email} The API key Key ${i} expires soon /profile/api-keys/${id}`);
    }
    // Mails about the creation of the keys are not tested here.
    await db.pool.query('update key_notices set mail_due_at = null');
    await startBoth();
    await until('notices of all keys, and a mail in transit', async () => {
      const count = await db.prisma.keyNotice.count({ where: { kind: 'expires' } });
      return count === KEYS && smtp.isAsked();
    });
    for (const { child } of processes) child.kill('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    expect(smtp.mails).toEqual([]);
    smtp.greet();
    // The claims of the killed processes expire only after five minutes, so the test ends them.
    await db.pool.query('update key_notices set mail_due_at = now() where mail_due_at is not null');
    await db.pool.query('update api_keys set next_check_at = default');
    await startBoth();
    // The keys end in 7 days, or in 6 if a UTC day has ended during the test.
    const subjectWithoutDays = (mail: string) => subjectOf(mail).replace(/ in [67] days$/, ' soon');
    const told = () =>
      smtp.mails.map((mail) => [addresseeOf(mail), subjectWithoutDays(mail), ...pathsIn(mail)].join(' ')).toSorted();
    await until('all mails', () => smtp.mails.length >= KEYS);
    for (const charter of processes) await endCharter(charter);
    await db.pool.query('update api_keys set next_check_at = default');
    await startBoth();
    const last = await db.prisma.apiKey.findFirstOrThrow({ where: { name: 'Key 0' }, include: { user: true } });
    await revokeKeyById(db, last.id);
    await until('a later mail', () => told().some((mail) => mail.includes('revoked')));
    expected.push(`${last.user.email} An operator revoked the API key Key 0 /profile/api-keys/${last.id}`);
    expect(told()).toEqual(expected.toSorted());
    const due = 'select count(*)::int as due from api_keys where next_check_at <= now() and revoked_at is null';
    await until('a check of all keys', async () => (await db.pool.query(due)).rows[0]?.due === 0);
    expect(await db.prisma.keyNotice.count({ where: { kind: 'expires' } })).toBe(KEYS);
  } finally {
    await Promise.all(processes.map(kill));
    smtp.close();
  }
});

const byId = ([a]: readonly [string, string], [b]: readonly [string, string]) => (a < b ? -1 : 1);

function pending(): Promise<number> {
  return db.prisma.webhookDelivery.count({ where: { state: 'pending' } });
}
