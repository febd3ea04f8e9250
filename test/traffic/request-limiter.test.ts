import { DEFAULT_LIMITS, NO_LIMITS } from '../../src/domain/keys/request-limits.ts';
import { type LimitedKey, RequestLimiter, type RequestLimiterOptions } from '../../src/traffic/request-limiter.ts';
import { until } from '../support/wait.ts';

const key = (
  {
    requestsPerSecond = null,
    ...own
  }: Partial<LimitedKey['organizationLimits'] & Pick<LimitedKey, 'requestsPerSecond'>> = {},
  id = 'a',
): LimitedKey => ({
  organizationId: 'o',
  id,
  requestsPerSecond,
  organizationLimits: { perKey: null, perOrganization: null, ...own },
});

type Leased = { readonly subjects: string[]; readonly wanted: number[] };

/** Creates a limiter with a stopped clock, and buckets that grant `tokens` in total. */
function setUp({
  tokens = Number.POSITIVE_INFINITY,
  ...given
}: { tokens?: number } & Partial<RequestLimiterOptions> = {}) {
  const leases: Leased[] = [];
  const failures: unknown[] = [];
  const clock = { at: 0 };
  const left = new Map<string, number>();
  const limiter = new RequestLimiter({
    limits: DEFAULT_LIMITS,
    lease: async (requests) => {
      leases.push({ subjects: requests.map(({ subject }) => subject), wanted: requests.map(({ wanted }) => wanted) });
      return new Map(
        requests.map(({ subject, wanted }) => {
          const granted = Math.min(wanted, left.get(subject) ?? tokens);
          left.set(subject, (left.get(subject) ?? tokens) - granted);
          return [subject, { granted, left: 0 }];
        }),
      );
    },
    onFailure: (error) => failures.push(error),
    clock: () => clock.at,
    ...given,
  });
  return { limiter, leases, failures, clock };
}

/** Waits until every lease that was requested has been received. */
async function settled(leases: readonly Leased[]): Promise<void> {
  for (let before = -1; before !== leases.length; ) {
    before = leases.length;
    for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

test('without limits, no key has any, and nothing is leased', async () => {
  const { limiter, leases } = setUp({ limits: NO_LIMITS });
  expect(limiter.admitKey(key())).toBeNull();
  expect(limiter.admitAddress('192.0.2.1')).toBe(true);
  await settled(leases);
  expect(leases).toEqual([]);
});

// The bug: the response named a limit that the organization does not have.
test('a request that is refused after a lease is refused by the limit that refused it, even if its key may send again since', async () => {
  const { limiter, clock } = setUp({
    tokens: 5,
    limits: { ...DEFAULT_LIMITS, perOrganization: 0 },
    clock: () => {
      // Moves the clock on after each decision, so that the key has another token when the response is made.
      queueMicrotask(() => {
        clock.at += 10;
      });
      return clock.at;
    },
  });
  const admissions = await Promise.all(Array.from({ length: 50 }, () => limiter.admitKey(key())));
  const refused = admissions.filter((admission) => admission?.isAdmitted === false);
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused.map((admission) => admission?.closest))).toEqual(new Set(['key']));
});

test('the first request does not wait for its lease; one statement leases for the key and its organization', async () => {
  const { limiter, leases } = setUp();
  expect(limiter.admitKey(key())).toMatchObject({ isAdmitted: true, closest: 'key', remaining: 499 });
  limiter.admitKey(key({}, 'b'));
  await settled(leases);
  expect(leases).toEqual([{ subjects: ['key:a', 'organization:o', 'key:b'], wanted: [41, 82, 41] }]);
});

test('requests that have leased tokens are synchronous, and lease again only when half of them are used', async () => {
  const { limiter, leases } = setUp();
  limiter.admitKey(key({ perOrganization: 0 }));
  await settled(leases);
  for (let i = 0; i < 20; i += 1)
    expect(limiter.admitKey(key({ perOrganization: 0 }))).toMatchObject({ isAdmitted: true });
  await settled(leases);
  expect(leases).toHaveLength(1);
});

test('requests that are made during a lease need no other one if it brings enough', async () => {
  const begun: (() => void)[] = [];
  const { limiter, clock } = setUp({
    async lease(requests) {
      await new Promise<void>((resolve) => begun.push(resolve));
      return new Map(requests.map(({ subject, wanted }) => [subject, { granted: wanted, left: 0 }]));
    },
  });
  limiter.admitKey(key());
  await until('the lease', () => begun.length === 1);
  limiter.admitKey(key());
  // The clock moves on, so the next lease could begin.
  clock.at += 1000;
  begun[0]?.();
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toHaveLength(1);
});

test('a burst waits for one lease, which admits as many as the bucket grants, in the order of arrival', async () => {
  const { limiter } = setUp({ tokens: 3 });
  const admissions = await Promise.all(
    Array.from({ length: 5 }, () => limiter.admitKey(key({ perKey: 19, perOrganization: 0 }))),
  );
  expect(admissions.map((each) => each?.isAdmitted)).toEqual([true, true, true, false, false]);
  expect(admissions.at(-1)).toMatchObject({ closest: 'key', remaining: 0 });
});

const OVERLOADED = 'Too many requests wait for the database.';

// The attack: a flood while the database is slow, until the waiting requests fill the memory.
test('of one key or organization, a limited number of requests waits for a lease; others are refused at once', async () => {
  const lease = Promise.withResolvers<never>();
  const { limiter } = setUp({
    limits: { ...DEFAULT_LIMITS, perAddress: 10 },
    lease: () => lease.promise,
    maxWaiting: 3,
  });
  const limits = { perKey: 10, perOrganization: 10 };
  const waiting = ['a', 'b', 'a'].map((id) => limiter.admitKey(key(limits, id)));
  // The organization has three waiting requests, although each of its keys has fewer.
  for (const id of ['a', 'b', 'c']) expect(() => limiter.admitKey(key(limits, id))).toThrow(OVERLOADED);
  // Another organization is not affected.
  waiting.push(limiter.admitKey({ ...key(limits, 'd'), organizationId: 'p' }));
  // Requests without a key are not affected, either.
  const admission = limiter.admitAddress('192.0.2.1');
  lease.reject(new Error('The database is stopped.'));
  expect(await admission).toBe(true);
  expect((await Promise.all(waiting)).map((each) => each?.isAdmitted)).toEqual([true, true, true, true]);
});

test('requests without a key from many addresses do not wait without bound, and keep no key from waiting', async () => {
  const lease = Promise.withResolvers<never>();
  const { limiter, clock } = setUp({
    limits: { ...DEFAULT_LIMITS, perAddress: 10 },
    lease: () => lease.promise,
    maxWaiting: 3,
  });
  const waiting = [1, 2, 3].map((i) => limiter.admitAddress(`192.0.2.${i}`));
  expect(() => limiter.admitAddress('192.0.2.4')).toThrow(OVERLOADED);
  const admission = limiter.admitKey(key({ perKey: 10 }));
  lease.reject(new Error('The database is stopped.'));
  expect(await Promise.all(waiting)).toEqual([true, true, true]);
  expect(await admission).toMatchObject({ isAdmitted: true });
  // No request is waiting now.
  clock.at += 1000;
  expect(await limiter.admitAddress('192.0.2.4')).toBe(true);
});

test('while the bucket is known to be empty, requests are refused without a lease', async () => {
  const { limiter, leases, clock } = setUp({ tokens: 0 });
  const own = key({ perKey: 0, perOrganization: 10 });
  expect(await limiter.admitKey(own)).toMatchObject({ isAdmitted: false, closest: 'organization' });
  expect(limiter.admitKey(own)).toMatchObject({ isAdmitted: false });
  clock.at += 99;
  expect(limiter.admitKey(own)).toMatchObject({ isAdmitted: false });
  expect(leases).toHaveLength(1);
  clock.at += 1;
  await limiter.admitKey(own);
  expect(leases).toHaveLength(2);
});

test("a refusal by one limit does not use the other's tokens", async () => {
  const { limiter } = setUp({
    lease: async (requests) =>
      new Map(requests.map(({ subject, wanted }) => [subject, { granted: subject === 'key:a' ? wanted : 0, left: 0 }])),
  });
  const limited = key({ perKey: 100, perOrganization: 1 });
  expect(await limiter.admitKey(limited)).toMatchObject({ isAdmitted: false, closest: 'organization' });
  for (let i = 0; i < 20; i += 1) expect(limiter.admitKey(limited)).toMatchObject({ isAdmitted: false });
  // Nine leased tokens are left, so this request need not wait for a lease.
  expect(limiter.admitKey(key({ perKey: 100, perOrganization: 0 }))).toMatchObject({ isAdmitted: true });
});

test('IPv6 addresses of one network share a limit', async () => {
  const { limiter, leases } = setUp();
  limiter.admitAddress('2001:db8::1');
  limiter.admitAddress('2001:db8::2');
  limiter.admitAddress('2001:db8:0:1::1');
  await settled(leases);
  expect(leases.map(({ subjects }) => subjects)).toEqual([['address:2001:db8::/64', 'address:2001:db8:0:1::/64']]);
});

test('changed limits apply to the next request', async () => {
  const { limiter } = setUp();
  expect(limiter.admitKey(key())).toMatchObject({ limits: { perKey: 500, perOrganization: 1000 } });
  expect(limiter.admitKey(key({ perKey: 30 }))).toMatchObject({ limits: { perKey: 30, perOrganization: 1000 } });
  expect(limiter.admitKey(key({ perKey: 0, perOrganization: 0 }))).toBeNull();
});

// An outage must not look like a limit.
test('while leases fail, everything is admitted; this is reported once, and ends with the next lease', async () => {
  let isBroken = true;
  const { limiter, failures, clock } = setUp({
    lease: async (requests) => {
      if (isBroken) throw new Error('The database is stopped.');
      return new Map(requests.map(({ subject }) => [subject, { granted: 0, left: 0 }]));
    },
  });
  const own = key({ perKey: 1, perOrganization: 0 });
  for (let i = 0; i < 10; i += 1) expect(await limiter.admitKey(own)).toMatchObject({ isAdmitted: true });
  clock.at += 2000;
  expect(await limiter.admitKey(own)).toMatchObject({ isAdmitted: true });
  expect(failures).toHaveLength(1);
  isBroken = false;
  clock.at += 2000;
  expect(await limiter.admitKey(own)).toMatchObject({ isAdmitted: false });
});

test('subjects that were idle for twenty seconds are forgotten, and keys in use are not', async () => {
  const { limiter, leases, clock } = setUp();
  limiter.admitKey(key({ perOrganization: 0 }));
  limiter.admitKey(key({ perOrganization: 0 }, 'b'));
  await settled(leases);
  for (let i = 0; i < 3; i += 1) {
    clock.at += 10_000;
    limiter.admitKey(key({ perOrganization: 0 }));
  }
  await settled(leases);
  expect(leases).toHaveLength(1);
  limiter.admitKey(key({ perOrganization: 0 }, 'b'));
  await settled(leases);
  expect(leases.map(({ subjects }) => subjects)).toEqual([['key:a', 'key:b'], ['key:b']]);
});

// PostgreSQL cannot update a row twice in one statement. The lease would fail, and while leases fail, nothing is limited.
test('after a change of the limits, no lease has a subject twice', async () => {
  const { limiter, leases } = setUp();
  limiter.admitKey(key({ perOrganization: 10 }));
  limiter.admitKey(key({ perOrganization: 20 }));
  await until('the second lease', () => leases.length === 2);
  for (const { subjects } of leases) expect(new Set(subjects).size).toBe(subjects.length);
  expect(leases.flatMap(({ subjects }) => subjects).filter((subject) => subject === 'organization:o')).toHaveLength(2);
});

test('the extra items of a batch are taken by the next lease, and the requests after it wait for the refill', async () => {
  const owed: (number | undefined)[] = [];
  const { limiter, leases, clock } = setUp({
    lease: async (requests) => {
      for (const request of requests) owed.push(request.owed);
      return new Map(requests.map(({ subject }) => [subject, { granted: 0, left: -149 }]));
    },
  });
  const own = key({ perKey: 0, perOrganization: 50 });
  expect(limiter.admitKey(own)).toMatchObject({ isAdmitted: true });
  expect(limiter.admitKey(own, 99)).toMatchObject({ isAdmitted: true, closest: 'organization', remaining: 0 });
  await until('the lease', () => owed.length > 0);
  await settled(leases);
  expect(owed[0]).toBe(99);
  expect(limiter.admitKey(own)).toMatchObject({ isAdmitted: false, closest: 'organization', retryAfterSeconds: 3 });
  clock.at += 2999;
  expect(limiter.admitKey(own)).toMatchObject({ isAdmitted: false, retryAfterSeconds: 1 });
});

// The bug: one token was enough for a whole batch, so a process admitted 40 batches in a row for a key with 500 requests per
// second.
test.each(['in quick succession', 'at once'])(
  'of batches %s, one is admitted until the bucket is refilled',
  async (how) => {
    let held = 50;
    const { limiter, clock } = setUp({
      lease: async (requests) =>
        new Map(
          requests.map(({ subject, wanted, owed }) => {
            const granted = Math.max(0, Math.min(wanted, held - owed));
            held -= owed + granted;
            return [subject, { granted, left: held }];
          }),
        ),
    });
    const own = key({ perOrganization: 0 });
    const admit = async () =>
      (await limiter.admitKey(own))?.isAdmitted && (await limiter.admitKey(own, 99))?.isAdmitted;
    const admitted: unknown[] = [];
    if (how === 'at once') admitted.push(...(await Promise.all(Array.from({ length: 40 }, admit))));
    else for (let i = 0; i < 40; i += 1) admitted.push(await admit());
    expect(admitted.filter(Boolean)).toHaveLength(1);
    // The bucket is full again.
    held = 100;
    clock.at += 1000;
    expect(await admit()).toBe(true);
  },
);

test('a batch of a key without limits is not counted', () => {
  const { limiter } = setUp({ limits: NO_LIMITS });
  expect(limiter.admitKey(key(), 99)).toBeNull();
});
