// Two processes on one database, under load: no read returns a value older than an acknowledged write, and after a change of a
// key was confirmed, no request is judged by the key's old state.
import { MAX_REQUESTS_PER_SECOND, NO_LIMITS } from '../../src/domain/keys/request-limits.ts';
import type { IssuedKey } from '../../src/service/keys/issue-key.ts';
import { moveKey } from '../../src/service/keys/move-key.ts';
import { restrictKey } from '../../src/service/keys/restrict-key.ts';
import { changeNoticeSettings } from '../../src/service/organizations/policy.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { changeRole, deactivateUser } from '../../src/service/people/change-user.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { Client } from '../support/clients/client.ts';
import { reportAsProgram } from '../support/dashboard/reports.ts';
import { createPeople, giveKey, times } from '../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../support/data/integrations.ts';
import { writeAllNotices } from '../support/data/key-notices.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { startServer } from '../support/servers/server.ts';
import { judgeKeys, judgeRegister, type KeyUse, type Span } from '../support/traffic/linearizability.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { type History, sendRandomTraffic } from '../support/traffic/random-traffic.ts';
import { length, until } from '../support/wait.ts';

const SECONDS = length({ full: 10, figures: 60 });
const MOVES = length({ full: 3, figures: 20 });
const CHANGES = length({ full: 8, figures: 60 });
const KEYS = length({ full: 4, figures: 8 });
/** The number of responses to each client before and after each change. */
const RESPONSES = length({ full: 10, figures: 100 });
const LIST = '/api/parent_programs';
const HERE = '203.0.113.7';
const ELSEWHERE = '198.51.100.9';

const database = await useScratchDatabase();
const env = { DATABASE_URL: database.url, TRUSTED_PROXIES: 'loopback', PUBLIC_URL: 'http://charter.example.org' };
const servers = await Promise.all([startCharter(env), startCharter(env)]);
afterAll(() => Promise.all(servers.map(kill)));
const db = connectTo(database.url, 4);
afterAll(() => db.close());

type Sending = {
  readonly key: IssuedKey;
  readonly from?: string;
  readonly name?: string | undefined;
  readonly path?: string;
};

type Use = KeyUse & {
  readonly from: string;
  readonly policy: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: each test reads what it expects.
  readonly body: any;
};

/**
 * Starts clients of the two processes. Each client sends the requests that `next` returns, one after another, until `end` is
 * called.
 */
function startClients(count: number, next: (client: number, turn: number) => Sending) {
  const uses: Use[] = [];
  let isEnding = false;
  const run = async (client: number) => {
    for (let turn = 0; !isEnding; turn += 1) {
      const { key, from = HERE, name, path = '/api/key' } = next(client, turn);
      const own = new Client(servers[client % 2]?.url ?? '', key.key);
      const sending = { headers: { 'X-Forwarded-For': from } };
      const sent = performance.now();
      const { status, headers, body } =
        name === undefined ? await own.get(path, sending) : await own.post(LIST, { name }, sending);
      // A busy machine may refuse a request, whatever its key.
      if (status === 503) continue;
      const policy = headers['ratelimit-policy'];
      uses.push({ key: key.id, sent, received: performance.now(), status, from, policy, body });
    }
  };
  const clients = Array.from({ length: count }, (_, client) => run(client));
  const failed = Promise.all(clients).then(() => new Promise<never>(() => {}));
  return {
    uses,
    /** Resolves after `more` matching requests that are sent from now on. */
    async afterMore(more: number, isMatch: (use: Use) => boolean = () => true): Promise<Span> {
      const [sent, known] = [performance.now(), uses.length];
      const isEnough = () => uses.slice(known).filter((use) => use.sent > sent && isMatch(use)).length >= more;
      await Promise.race([until(`${more} more uses`, isEnough), failed]);
      return { sent, received: performance.now() };
    },
    async end() {
      isEnding = true;
      await Promise.all(clients);
    },
  };
}

const faultsIn = ({ registers }: History) => [...registers.values()].flatMap(judgeRegister);

/**
 * Returns whether the history is long enough to prove something: keys ended and were refused, and programs were read, changed and
 * deleted.
 */
function isEnough({ keyEnds, keyUses, registers }: History): boolean {
  const { ends, refusals, accesses, deletions } = { ends: 10, refusals: 10, accesses: 1000, deletions: 100 };
  const all = [...registers.values()].flat();
  return (
    keyEnds.size > ends &&
    keyUses.filter(({ status }) => status === 401).length > refusals &&
    all.length > accesses &&
    all.filter(({ value }) => value === 'gone').length > deletions
  );
}

test('64 clients never get a value older than an acknowledged write, and no key is accepted after its rotation or revocation', async () => {
  const urls = servers.map(({ url }) => url);
  const history = await sendRandomTraffic(db, { urls, clients: 64, seconds: SECONDS, seed: 20, isEnough });
  expect(faultsIn(history)).toEqual([]);
  expect(judgeKeys(history.keyUses, history.keyEnds)).toEqual([]);
  expect(isEnough(history)).toBe(true);
});

/** Ends each key in turn while 32 clients use all of them. Checks that a key is accepted before its end and never after it. */
async function endInTurn(keys: readonly IssuedKey[], end: (key: IssuedKey, turn: number) => Promise<unknown>) {
  const ends = new Map<string, Span>();
  const clients = startClients(32, (client, turn) => ({ key: keyAt(keys, client + turn), path: LIST }));
  try {
    await clients.afterMore(32 * keys.length);
    for (const [turn, key] of keys.entries()) {
      const sent = performance.now();
      ends.set(key.id, { sent, received: Number.POSITIVE_INFINITY });
      await end(key, turn);
      ends.set(key.id, { sent, received: performance.now() });
      await clients.afterMore(32, ({ key: used }) => used === key.id);
    }
  } finally {
    await clients.end();
  }
  expect(judgeKeys(clients.uses, ends)).toEqual([]);
  expect(new Set(clients.uses.map(({ status }) => status))).toEqual(new Set([200, 401]));
}

function keyAt(keys: readonly IssuedKey[], i: number): IssuedKey {
  const key = keys[i % keys.length];
  if (key === undefined) throw new Error('There are no keys.');
  return key;
}

test('no process accepts a key after a report to another one was answered', async () => {
  const { member } = await createPeople(db);
  const keys = await times(KEYS, () => giveKey(db, member));
  await endInTurn(keys, async ({ key }, turn) => {
    const report = () => reportAsProgram(servers[turn % 2]?.url ?? '', { keys: [key] });
    const { status } = await untilAdmitted(report);
    expect(status).toBe(200);
  });
  for (const { printed } of servers) for (const { key } of keys) expect(printed.stdout).not.toContain(key.slice(20));
});

test('no process accepts a key after Charter has ended it as unused, while clients begin to use it', async () => {
  const { administrator, member, scope } = await createPeople(db);
  orThrow(await changeNoticeSettings(db, administrator, { endsUnusedAfterDays: 30, tellsNewNetworks: false }));
  await db.pool.query(`update organizations set ends_unused_since = '2025-01-01' where id = $1`, [
    scope.organizationId,
  ]);
  const keys = await times(KEYS, () => giveKey(db, member, { lifeDays: null }));
  const ids = keys.map(({ id }) => id);
  // Makes the keys look unused since 2025, and schedules the check of those in `due` for now. This is one SQL statement, because
  // the processes also check keys, and must not see only a part of the change.
  const forget = (due: readonly string[]) =>
    db.pool.query(
      `update api_keys set last_used_at = '2025-06-01', next_check_at = case when id = any($1) then now() end
         where revoked_at is null and id = any($2)`,
      [due, ids],
    );
  await forget(ids);
  await until('the last notices', async () => {
    await writeAllNotices(db);
    return (await db.prisma.keyNotice.count({ where: { kind: 'unused', keyId: { in: ids } } })) === keys.length;
  });
  await db.pool.query(`update key_notices set created_at = created_at - interval '2 days' where key_id = any($1)`, [
    ids,
  ]);
  await endInTurn(keys, ({ id }) =>
    until('the end of a key', async () => {
      await forget([id]);
      await writeAllNotices(db);
      return (await db.prisma.apiKey.findFirstOrThrow({ where: { id } })).revokedAt;
    }),
  );
});

/**
 * High limits, so that no request gets a 429. A 429 would not show whether the server used the key's old or new list of allowed
 * addresses.
 */
const LIMITS = { ...NO_LIMITS, perKey: MAX_REQUESTS_PER_SECOND };

test('no response is by the addresses or the limit of a key before a confirmed change, and nothing more is written by them', async () => {
  const { administrator, member } = await createPeople(db);
  const key = await giveKey(db, member);
  const clients = startClients(32, (client, turn) => {
    const from = (client + turn) % 4 < 2 ? HERE : ELSEWHERE;
    const name = client % 4 === 0 ? undefined : `${client} ${turn} from ${from}`;
    return { key, from: `${HERE}, ${from}`, name, path: LIST };
  });
  const isFrom = (address: string) => (use: Use) => use.from.endsWith(address);
  const writtenFrom = async (address: string): Promise<string[]> => {
    const where = { organizationId: member.scope.organizationId, name: { endsWith: ` from ${address}` } };
    const rows = await db.prisma.parentProgram.findMany({ where, select: { name: true }, orderBy: { id: 'asc' } });
    return rows.map(({ name }) => name);
  };
  const periods: (Span & { forbidden: string; limit: number })[] = [];
  try {
    for (let i = 0; i < CHANGES; i += 1) {
      const [addresses, allowed, forbidden] =
        i % 2 === 0 ? [`${HERE}/24`, HERE, ELSEWHERE] : ['198.51.100.0/24', ELSEWHERE, HERE];
      const limit = LIMITS.perKey - 1 - (i % 2);
      const change = { addresses, requestsPerSecond: limit, requestLimits: LIMITS };
      const request = { keyId: key.id, userId: member.userId, ...change, lockedOut: [HERE, ELSEWHERE] };
      expect(await restrictKey(db, administrator, request)).toEqual({ kind: 'done' });
      const confirmedAt = performance.now();
      // What was committed before the confirmation was still allowed.
      const names = await writtenFrom(forbidden);
      const spans = await Promise.all([
        clients.afterMore(RESPONSES, isFrom(forbidden)),
        clients.afterMore(RESPONSES, isFrom(allowed)),
      ]);
      // The period lasts until the later of the two times, so that responses to both addresses are judged.
      const received = Math.max(...spans.map((span) => span.received));
      periods.push({ sent: confirmedAt, received, forbidden, limit });
      expect(await writtenFrom(forbidden)).toEqual(names);
    }
  } finally {
    await clients.end();
  }
  for (const { sent, received, forbidden, limit } of periods) {
    const during = clients.uses.filter((use) => use.sent > sent && use.received < received);
    const late = during.filter(isFrom(forbidden));
    expect(late.filter(({ status }) => status !== 403)).toEqual([]);
    const policies = during.flatMap(({ policy }) => policy ?? []);
    expect(new Set(policies)).toEqual(new Set([expect.stringContaining(`q=${limit};`)]));
  }
  expect(new Set(clients.uses.map(({ status }) => status))).toEqual(new Set([200, 201, 403]));
});

test('clients with keys of integrations notice nothing when the owner is demoted and deactivated', async () => {
  const { administrator, manager } = await createPeople(db);
  const integrations = [await giveIntegration(db, manager), await giveIntegration(db, manager)];
  const keys = await Promise.all(integrations.map((each) => giveIntegrationKey(db, manager, each)));
  // The deactivation also ends the person's own key.
  const own = await giveKey(db, manager);
  const used = [...keys, own];
  const clients = startClients(18, (client) => ({ key: keyAt(used, client) }));
  const afterMoreOfEach = async () => {
    const [span] = await Promise.all(used.map(({ id }) => clients.afterMore(RESPONSES, ({ key }) => key === id)));
    return span?.sent ?? 0;
  };
  try {
    await afterMoreOfEach();
    const { userId } = manager;
    orThrow(await changeRole(db, administrator, { userId, role: 'viewer', newOwner: manager.email }));
    await afterMoreOfEach();
    orThrow(await deactivateUser(db, administrator, { userId, newOwner: administrator.email }));
    const confirmedAt = await afterMoreOfEach();
    const ofIntegrations = clients.uses.filter(({ key }) => key !== own.id);
    expect(ofIntegrations.filter(({ status }) => status !== 200)).toEqual([]);
    const named = new Set(ofIntegrations.map(({ body }) => body.integration.id));
    expect(named).toEqual(new Set(integrations.map(({ id }) => id)));
    const late = clients.uses.filter(({ key, sent }) => key === own.id && sent >= confirmedAt);
    expect(late.filter(({ status }) => status !== 401)).toEqual([]);
  } finally {
    await clients.end();
  }
});

// The risk: a server that caches the holder of a key continues to use the permissions of the former holder.
test('32 clients get no response by the old state once the move of a key to an integration is confirmed', async () => {
  const { administrator, member } = await createPeople(db);
  for (let i = 0; i < MOVES; i += 1) {
    const { id: integrationId } = await giveIntegration(db, administrator, { role: 'viewer' });
    const key = await giveKey(db, member);
    const clients = startClients(32, () => ({ key }));
    try {
      await clients.afterMore(RESPONSES * 32);
      const beganAt = performance.now();
      const move = { keyId: key.id, userId: member.userId, integrationId, name: key.name };
      orThrow(await moveKey(db, administrator, move));
      const { sent: confirmedAt } = await clients.afterMore(RESPONSES * 32);
      const isOld = ({ body }: Use) => body.integration === null && body.permissions.length === 2;
      const isNew = ({ body }: Use) =>
        body.integration?.id === integrationId && body.permissions.join() === 'parent_programs:read';
      expect(clients.uses.filter((use) => !isOld(use) && !isNew(use))).toEqual([]);
      expect(clients.uses.filter(({ sent }) => sent < beganAt).some(isOld)).toBe(true);
      expect(clients.uses.filter((use) => use.sent >= confirmedAt && !isNew(use))).toEqual([]);
    } finally {
      await clients.end();
    }
    for (const { url } of servers) {
      const { status } = await untilAdmitted(() => new Client(url, key.key).post(LIST, { name: 'Late' }));
      expect(status).toBe(403);
    }
  }
});

type Found = { readonly rows: readonly unknown[] };

/** Returns the key's hash, with which the only column of a row of the key look-up begins. */
function hashOf(row: unknown): string {
  const [[hash] = []] = Array.isArray(row) ? row : [];
  if (typeof hash !== 'string') throw new Error('A key that was found does not begin with its hash.');
  return hash;
}

/** Plants a fault: every second time, the SQL query returns the row that it returned the time before. */
function lag({ pool }: Database, isLagging: (statement: string) => boolean): void {
  const { query } = pool;
  const known = new Map<string, unknown>();
  const remember = <T>(name: string, found: T): T => {
    const before = known.get(name);
    if (before === undefined) known.set(name, found);
    else known.delete(name);
    return (before as T) ?? found;
  };
  const lagging = async (config: { name?: string; values?: unknown[] }) => {
    const found: Found = await Reflect.apply(query, pool, [config]);
    // One SQL query looks up several keys, and the result for each key is cached separately.
    if (config.name !== 'find_keys_by_hash') return remember(JSON.stringify([config.name, config.values]), found);
    return { ...found, rows: found.rows.map((row) => remember(hashOf(row), row)) };
  };
  Object.assign(pool, {
    query: (...parameters: [{ name?: string }]) =>
      isLagging(parameters[0]?.name ?? '') ? lagging(parameters[0]) : Reflect.apply(query, pool, parameters),
  });
}

// Tests the checks above, because a test that cannot fail proves nothing.
describe('a planted fault is caught', () => {
  async function untilCaught(isLagging: (statement: string) => boolean, faultsOf: (history: History) => string[]) {
    await using server = await startServer();
    await using db = connectTo(server.databaseUrl, 4);
    let seed = 7;
    const traffic = { urls: [server.url], clients: 4, seconds: 1 };
    lag(server.db, isLagging);
    await until('the fault to be caught', async () => {
      seed += 1;
      return faultsOf(await sendRandomTraffic(db, { ...traffic, seed })).length > 0;
    });
  }

  test('a response cache that shows every second row once more', () =>
    untilCaught((name) => /^(list|find)_parent_program/.test(name), faultsIn));

  test('a key look-up that finds every second row once more', () =>
    untilCaught(
      (name) => name === 'find_keys_by_hash',
      ({ keyUses, keyEnds }) => judgeKeys(keyUses, keyEnds),
    ));
});
