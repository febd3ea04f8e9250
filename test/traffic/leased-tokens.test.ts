import { LeasedTokens } from '../../src/traffic/token-leases.ts';

/** Takes tokens until none is left at that time. Returns how many were taken. */
function drain(tokens: LeasedTokens, at: number): number {
  let taken = 0;
  for (; tokens.decide(at) === 'admitted'; taken += 1) tokens.take();
  return taken;
}

test('before the first lease, the requests of 0.05 s are admitted on credit, and the next lease settles them', () => {
  const tokens = new LeasedTokens('key:a', 100);
  expect(drain(tokens, 0)).toBe(5);
  expect(tokens.decide(0)).toBe('unknown');
  // The lease asks for five tokens to settle the credit, and eight to keep.
  expect(tokens.wanted).toBe(13);
  tokens.receive({ granted: 13, left: 7 }, { wanted: 13, owed: 0, at: 1 });
  expect(drain(tokens, 1)).toBe(8 + 5);
});

test('below 20 requests per second there is no credit and no stock: each request waits for its lease', () => {
  const tokens = new LeasedTokens('key:a', 10);
  expect(tokens.decide(0)).toBe('unknown');
  tokens.waiting = 1;
  expect(tokens.wanted).toBe(1);
  tokens.receive({ granted: 1, left: 1 }, { wanted: 1, owed: 0, at: 1 });
  expect(drain(tokens, 1)).toBe(1);
  expect(tokens.decide(1)).toBe('unknown');
});

test('no more is wanted than a bucket holds: the requests of 0.2 s, at least 1', () => {
  for (const [rate, capacity] of [
    [1, 1],
    [50, 10],
    [500, 100],
  ] as const) {
    const tokens = new LeasedTokens('key:a', rate);
    tokens.waiting = 1000;
    expect(tokens.wanted).toBe(capacity);
  }
});

test('after a lease that grants less than was wanted, requests are refused until the bucket holds a token again', () => {
  const tokens = new LeasedTokens('key:a', 10);
  tokens.waiting = 2;
  tokens.receive({ granted: 1, left: 0.5 }, { wanted: 2, owed: 0, at: 1000 });
  expect(drain(tokens, 1000)).toBe(1);
  expect(tokens.decide(1049)).toBe('refused');
  expect(tokens.decide(1050)).toBe('unknown');
});

test('a lease is requested when the stock is less than half full', () => {
  const tokens = new LeasedTokens('key:a', 100);
  tokens.receive({ granted: 8, left: 12 }, { wanted: 8, owed: 0, at: 0 });
  for (let i = 0; i < 4; i += 1) {
    expect(tokens.isLow).toBe(false);
    tokens.take();
  }
  tokens.take();
  expect(tokens.isLow).toBe(true);
});

test('the remaining requests are the rate, less what is missing from the burst, and grow with time', () => {
  const tokens = new LeasedTokens('key:a', 500);
  expect(tokens.remaining(0)).toBe(500);
  for (let i = 0; i < 20; i += 1) tokens.take();
  expect(tokens.remaining(0)).toBe(480);
  tokens.receive({ granted: 60, left: 40 }, { wanted: 60, owed: 0, at: 0 });
  expect(tokens.remaining(0)).toBe(480);
  expect(tokens.remaining(20)).toBe(490);
  expect(tokens.remaining(1000)).toBe(500);
});

test('tokens of a batch are owed: they are paid from the stock first, and nobody takes one before a lease has told', () => {
  const tokens = new LeasedTokens('key:a', 500);
  tokens.receive({ granted: 40, left: 60 }, { wanted: 40, owed: 0, at: 0 });
  tokens.take(99);
  expect(tokens.request).toMatchObject({ wanted: 40, owed: 59 });
  expect([tokens.decide(0), tokens.decide(0, 99)]).toEqual(['unknown', 'unknown']);
  // The decision must also be unknown while the lease is under way.
  const { wanted, owed } = tokens.request;
  tokens.take(10);
  expect(tokens.decide(0)).toBe('unknown');
  tokens.receive({ granted: 0, left: -9 }, { wanted, owed, at: 10 });
  expect(tokens.request.owed).toBe(10);
  tokens.receive({ granted: 0, left: -19 }, { wanted: 40, owed: 10, at: 10 });
  expect([tokens.decide(47.9), tokens.decide(47.9, 99)]).toEqual(['refused', 'refused']);
  expect([tokens.decide(49.9), tokens.decide(49.9, 99)]).toEqual(['refused', 'admitted']);
  expect(tokens.decide(50)).not.toBe('refused');
});

test('what is owed to a lease that fails is forgiven', () => {
  const tokens = new LeasedTokens('key:a', 500);
  tokens.take(99);
  tokens.forgive(tokens.request);
  expect(tokens.decide(0)).toBe('admitted');
});
