import { type Database, openDatabase } from '../../src/store/database.ts';
import { KEYRING } from '../support/data/encryption.ts';
import { judgeKeys, judgeRegister } from '../support/http/linearizability.ts';
import { type History, sendRandomTraffic } from '../support/http/random-traffic.ts';
import { startServer } from '../support/http/server.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const CLIENTS = 64;
const SECONDS = 60;

const faultsIn = ({ registers }: History) => [...registers.values()].flatMap(judgeRegister);

/** The history proves something: keys have ended and were refused, and programs were read, changed and deleted. */
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

test('two processes under 64 clients never return a value older than an acknowledged write, nor accept an ended key', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    const processes = await Promise.all([startCharter({ DATABASE_URL }), startCharter({ DATABASE_URL })]);
    const db = openDatabase({ url: DATABASE_URL, keyring: KEYRING, poolSize: 4, onIdleError: () => {} });
    try {
      const urls = processes.map(({ url }) => url);
      const history = await sendRandomTraffic(db, { urls, clients: CLIENTS, seconds: SECONDS, seed: 20, isEnough });
      expect(faultsIn(history)).toEqual([]);
      expect(judgeKeys(history.keyUses, history.keyEnds)).toEqual([]);
      expect(isEnough(history)).toBe(true);
    } finally {
      await db.close();
      await Promise.all(processes.map(kill));
    }
  });
});

type Found = { readonly rows: readonly unknown[] };

/** A row of the key look-up has one column, which starts with the key's hash. */
function hashOf(row: unknown): string {
  const [[hash] = []] = Array.isArray(row) ? row : [];
  if (typeof hash !== 'string') throw new Error('A key that was found does not begin with its hash.');
  return hash;
}

/** Plants a fault: every second time, the statement returns the row that it returned before. */
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
    // Keys are looked up in batches; each is cached separately.
    if (config.name !== 'find_keys_by_hash') return remember(JSON.stringify([config.name, config.values]), found);
    return { ...found, rows: found.rows.map((row) => remember(hashOf(row), row)) };
  };
  Object.assign(pool, {
    query: (...parameters: [{ name?: string }]) =>
      isLagging(parameters[0]?.name ?? '') ? lagging(parameters[0]) : Reflect.apply(query, pool, parameters),
  });
}

// Checks the checker: a test that cannot fail proves nothing.
describe('a planted fault is caught', () => {
  async function untilCaught(isLagging: (statement: string) => boolean, faultsOf: (history: History) => string[]) {
    const server = await startServer();
    const db = openDatabase({ url: server.databaseUrl, keyring: KEYRING, poolSize: 4, onIdleError: () => {} });
    let seed = 7;
    const traffic = { urls: [server.url], clients: 4, seconds: 1 };
    try {
      lag(server.db, isLagging);
      await until('the fault to be caught', async () => {
        seed += 1;
        return faultsOf(await sendRandomTraffic(db, { ...traffic, seed })).length > 0;
      });
    } finally {
      await db.close();
      await server.close();
    }
  }

  test('a response cache that shows every second row once more', () =>
    untilCaught((name) => /^(list|find)_parent_program/.test(name), faultsIn));

  test('a key look-up that finds every second row once more', () =>
    untilCaught(
      (name) => name === 'find_keys_by_hash',
      ({ keyUses, keyEnds }) => judgeKeys(keyUses, keyEnds),
    ));
});

const write = (value: string, sent: number, received: number) => ({ kind: 'write', value, sent, received }) as const;
const NEVER = Number.POSITIVE_INFINITY;
const read = (value: string, sent: number, received: number) => ({ kind: 'read', value, sent, received }) as const;

describe('small histories', () => {
  test.each([
    ['one after another', [write('a', 0, 1), read('a', 2, 3), write('b', 4, 5), read('b', 6, 7)]],
    ['a read during a write sees either', [write('a', 0, 1), write('b', 2, 9), read('a', 3, 4), read('b', 5, 6)]],
    [
      'a write without a known outcome that nobody sees',
      [write('a', 0, 1), write('b', 2, NEVER), read('a', 3, 4), read('a', 5, 6)],
    ],
    [
      'a write without a known outcome that takes effect later',
      [write('a', 0, 1), write('b', 2, NEVER), read('a', 3, 4), read('b', 5, 6), read('b', 7, 8)],
    ],
    ['writes at once, in one order', [write('a', 0, 9), write('b', 0, 9), read('b', 10, 11), read('b', 12, 13)]],
  ])('%s: linearizable', (_, accesses) => {
    expect(judgeRegister(accesses)).toEqual([]);
  });

  test.each([
    ['an old value after the response to a new one', [write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)]],
    [
      'an old value after somebody saw the new one',
      [write('a', 0, 1), write('b', 2, 9), read('b', 3, 4), read('a', 5, 6)],
    ],
    [
      'an old value after a write without a known outcome was seen',
      [write('a', 0, 1), write('b', 2, NEVER), read('b', 3, 4), read('a', 5, 6)],
    ],
    ['a value before it was written', [write('a', 0, 1), read('b', 2, 3), write('b', 4, 5)]],
    ['a value that nobody wrote', [write('a', 0, 1), read('x', 2, 3)]],
    ['to and fro', [write('a', 0, 9), write('b', 0, 9), read('a', 10, 11), read('b', 12, 13), read('a', 14, 15)]],
  ])('%s: not linearizable', (_, accesses) => {
    expect(judgeRegister(accesses)).not.toEqual([]);
  });
});
