import { ConcurrencyLimits } from '../../src/delivery/deliveries.ts';

const QUICK = { isSuccess: true, durationMs: 5 };
const SLOW = { isSuccess: true, durationMs: 14_000 };
const FAILED = { isSuccess: false, durationMs: 5 };

function endpoint(endpointId: string, { isFailing = false } = {}) {
  return { organizationId: 'ours', endpointId, isReady: true, isFailing };
}

/** Begins as many attempts as the limits allow, and returns their number. */
function fill(limits: ConcurrencyLimits, place: ReturnType<typeof endpoint>): number {
  const [claim] = limits.divide([place]);
  const count = claim?.count ?? 0;
  for (let i = 0; i < count; i += 1) limits.start(place);
  return count;
}

test('an endpoint begins with 8 attempts at a time, and gets up to 32 while all succeed quickly', () => {
  const limits = new ConcurrencyLimits();
  const place = endpoint('quick');
  expect(fill(limits, place)).toBe(8);
  let [most, running] = [0, 8];
  for (let i = 0; i < 100; i += 1) {
    limits.end(place, QUICK);
    running += fill(limits, place) - 1;
    most = Math.max(most, running);
  }
  expect(most).toBe(32);
});

// The attack: an endpoint that takes very long for each response uses up the concurrent attempts that other endpoints need.
test.each([
  ['slow', SLOW],
  ['failed', FAILED],
])('%s attempts halve the limit of their endpoint, down to one', (_, outcome) => {
  const limits = new ConcurrencyLimits();
  const place = endpoint('slow');
  fill(limits, place);
  let running = 8;
  for (let i = 0; i < 20; i += 1) {
    limits.end(place, outcome);
    running += fill(limits, place) - 1;
  }
  expect(running).toBe(1);
});

test('an endpoint whose last attempt failed gets one at a time', () => {
  const limits = new ConcurrencyLimits();
  const place = endpoint('failing', { isFailing: true });
  expect([fill(limits, place), fill(limits, place)]).toEqual([1, 0]);
  limits.end(place, FAILED);
  expect(fill(limits, place)).toBe(1);
});

// The attack: a thousand endpoints that do not respond.
test('failing endpoints leave three quarters of all places to the others', () => {
  const limits = new ConcurrencyLimits();
  for (let i = 0; i < 1000; i += 1) fill(limits, endpoint(`dead ${i}`, { isFailing: true }));
  let others = 0;
  for (let i = 0; i < 1000; i += 1) others += fill(limits, endpoint(`well ${i}`));
  expect(others).toBe(384);
  expect(limits.isFull).toBe(true);
});

test('the last free places are divided equally', () => {
  const limits = new ConcurrencyLimits();
  for (let i = 0; i < 63; i += 1) fill(limits, endpoint(`other ${i}`));
  const claims = limits.divide(['a', 'b', 'c'].map((id) => endpoint(id)));
  expect(claims.map(({ count }) => count)).toEqual([3, 3, 2]);
});
