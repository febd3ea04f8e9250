import { coalesceLookUps } from '../../src/traffic/look-ups.ts';
import { outcomeOf } from '../support/data/actors.ts';
import { until } from '../support/wait.ts';

/** Returns a look-up that the test settles, and all calls of it, in the order in which they began. */
function heldLookUps() {
  const begun: {
    keys: readonly string[];
    end: (found: Record<string, number>) => void;
    fail: (error: Error) => void;
  }[] = [];
  const lookUp = (keys: readonly string[]) =>
    new Promise<ReadonlyMap<string, number>>((resolve, reject) => {
      begun.push({ keys, end: (found) => resolve(new Map(Object.entries(found))), fail: reject });
    });
  const nth = (n: number) => until(`look-up ${n}`, () => begun[n - 1]);
  return { lookUp, begun, nth };
}

test('callers that arrive during a look-up share the next one and get its result', async () => {
  const { lookUp, begun, nth } = heldLookUps();
  const find = coalesceLookUps(lookUp);
  const alone = find('a');
  const first = await nth(1);
  // The race: the look-up in flight finds "a" active, and "a" is revoked before these callers arrive.
  const later = [find('a'), find('b'), find('b'), find('c')];
  first.end({ a: 1 });
  expect(await alone).toBe(1);
  const second = await nth(2);
  expect([first.keys, second.keys]).toEqual([['a'], ['a', 'b', 'c']]);
  second.end({ b: 2 });
  expect(await Promise.all(later)).toEqual([null, 2, 2, null]);
  expect(begun).toHaveLength(2);
});

test('callers in one turn of the event loop share one look-up', async () => {
  const { lookUp, nth } = heldLookUps();
  const find = coalesceLookUps(lookUp);
  const asked = [find('a'), find('b')];
  const only = await nth(1);
  expect(only.keys).toEqual(['a', 'b']);
  only.end({ a: 1, b: 2 });
  expect(await Promise.all(asked)).toEqual([1, 2]);
});

test('of many callers in one turn of the event loop, the first ones are looked up at once and the rest together after them', async () => {
  const { lookUp, begun, nth } = heldLookUps();
  const find = coalesceLookUps(lookUp);
  const asked = Array.from({ length: 20 }, (_, i) => find(`key ${i}`));
  expect(begun.map(({ keys }) => keys.length)).toEqual([8]);
  (await nth(1)).end({ 'key 0': 1 });
  const others = await nth(2);
  expect(others.keys).toHaveLength(12);
  others.end({ 'key 19': 2 });
  expect((await Promise.all(asked)).filter((found) => found !== null)).toEqual([1, 2]);
  expect(begun).toHaveLength(2);
});

test('a rejected look-up fails only its own requests, and the next one is sent', async () => {
  const { lookUp, nth } = heldLookUps();
  const find = coalesceLookUps(lookUp);
  const failing = Promise.allSettled([find('a'), find('b')]);
  const first = await nth(1);
  const next = find('a');
  first.fail(new Error('the connection was lost'));
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  (await nth(2)).end({ a: 1 });
  expect(await next).toBe(1);
});

test('a look-up that throws synchronously fails only its own requests, and the next one is sent', async () => {
  let calls = 0;
  const find = coalesceLookUps((keys) => {
    calls += 1;
    if (calls === 1) throw new Error('there is no connection');
    return Promise.resolve(new Map(keys.map((key) => [key, calls])));
  });
  await expect(find('a')).rejects.toThrow('there is no connection');
  expect(await find('a')).toBe(2);
});

test('a look-up that never settles times out, and delays no later one', async () => {
  let begun = 0;
  const lookUp = () => {
    begun += 1;
    return begun === 1 ? new Promise<never>(() => {}) : Promise.resolve(new Map([['b', 2]]));
  };
  const find = coalesceLookUps(lookUp, { seconds: 0.05 });
  const lost = outcomeOf(find('a'));
  await until('the first look-up', () => begun === 1);
  expect(await find('b')).toBe(2);
  expect(await lost).toBe('unavailable: The database did not answer in time.');
});

test('callers beyond the queue limit are rejected at once, and the others are not', async () => {
  const { lookUp, nth } = heldLookUps();
  const find = coalesceLookUps(lookUp, { maxWaiting: 2 });
  const inFlight = find('a');
  const first = await nth(1);
  // Callers that wait for the same key count separately towards the limit.
  const waiting = [find('b'), find('b')];
  expect(await outcomeOf(find('b'))).toBe('unavailable: Too many requests wait for the database.');
  first.end({ a: 1 });
  (await nth(2)).end({ b: 2 });
  expect([await inFlight, ...(await Promise.all(waiting))]).toEqual([1, 2, 2]);
  const after = find('d');
  (await nth(3)).end({ d: 4 });
  expect(await after).toBe(4);
});

// The bug: while PostgreSQL was frozen, the requests of the look-up in flight waited for five seconds.
test('callers that wait too long, for a look-up or behind it, are rejected, and no other look-up starts meanwhile', async () => {
  const { lookUp, begun, nth } = heldLookUps();
  const find = coalesceLookUps(lookUp, { waitMs: 50 });
  const inFlight = outcomeOf(find('a'));
  const first = await nth(1);
  expect(await outcomeOf(find('b'))).toBe('unavailable: Too many requests wait for the database.');
  expect(await inFlight).toBe('unavailable: The database did not answer in time.');
  expect(await outcomeOf(find('c'))).toBe('unavailable: Too many requests wait for the database.');
  expect(begun).toHaveLength(1);
  first.end({ a: 1 });
  const after = find('d');
  (await nth(2)).end({ d: 4 });
  expect(await after).toBe(4);
});
