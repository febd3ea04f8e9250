import {
  type AttemptResult,
  type ClaimedDelivery,
  claimDeliveries,
  countPendingDeliveries,
  type EndpointKey,
  FIRST_ENDPOINT,
  listPendingEndpoints,
  recordAttempts,
} from '../../src/store/webhooks/webhook-deliveries.ts';
import { insertEndpoint, listDeliveries, writeEvents } from '../support/data/deliveries.ts';
import { openWithAutoExplain } from '../support/postgres/plans.ts';
import { inTransaction } from '../support/postgres/postgres.ts';
import { createTenant, useDatabase } from '../support/postgres/store.ts';

const { db, url } = await useDatabase();
const leaseSeconds = 30;
const failingDays = 5;

afterEach(() => db.pool.query('delete from webhook_endpoints'));

async function newEndpoint(events = 0) {
  const { organizationId } = (await createTenant(db)).scope;
  const endpoint = await insertEndpoint(db, organizationId, { url: 'https://hook.example' });
  if (events > 0) await writeEvents(db, organizationId, events);
  return endpoint;
}

function claim({ organizationId, endpointId }: EndpointKey, count = 10): Promise<ClaimedDelivery[]> {
  return claimDeliveries(db, [{ organizationId, endpointId, count }], { leaseSeconds });
}

function resultOf(delivery: ClaimedDelivery | undefined, more: Partial<AttemptResult> = {}): AttemptResult {
  if (delivery === undefined) throw new Error('Nothing was claimed.');
  const { organizationId, endpointId, messageId, number, failures, url: sentTo } = delivery;
  return {
    organizationId,
    endpointId,
    messageId,
    number,
    failures,
    url: sentTo,
    wasSent: true,
    at: new Date(),
    durationMs: 12.3,
    status: 200,
    error: '',
    responseBody: Buffer.from('fine'),
    retryMs: 5000,
    ...more,
  };
}

const FAILED = { status: 500 };

test('of due deliveries, at most as many as asked for are claimed, the oldest first, and each once until its lease ends', async () => {
  const endpoint = await newEndpoint(3);
  const all = (await listDeliveries(db, endpoint)).map(({ messageId }) => messageId);
  const first = await claim(endpoint, 2);
  expect(first.map(({ messageId, number }) => [messageId, number])).toEqual(all.slice(0, 2).map((id) => [id, 1]));
  expect((await claim(endpoint)).map(({ messageId }) => messageId)).toEqual(all.slice(2));
  expect(await claim(endpoint)).toEqual([]);
  await db.pool.query(`update webhook_deliveries set next_attempt_at = next_attempt_at - interval '${leaseSeconds} s'`);
  expect((await claim(endpoint)).map(({ number }) => number)).toEqual([2, 2, 2]);
});

test('a claim does not wait for another one, and gets other deliveries', async () => {
  const endpoint = await newEndpoint(3);
  const [locked] = await listDeliveries(db, endpoint);
  await inTransaction(db, async (client) => {
    await client.query('select 1 from webhook_deliveries where message_id = $1 for update', [locked?.messageId]);
    const claimed = await claim(endpoint);
    expect(claimed.length).toBe(2);
    expect(claimed.map(({ messageId }) => messageId)).not.toContain(locked?.messageId);
  });
});

test('nothing is claimed for a disabled endpoint', async () => {
  const endpoint = await newEndpoint(1);
  await db.prisma.webhookEndpoint.updateMany({ data: { disabledAt: new Date(), disabledReason: 'user' } });
  expect(await claim(endpoint)).toEqual([]);
});

// The race: the organization is suspended after its endpoint was listed as ready.
test('nothing is claimed for an endpoint of a suspended organization', async () => {
  const endpoint = await newEndpoint(1);
  await db.prisma.organization.updateMany({
    where: { id: endpoint.organizationId },
    data: { suspendedAt: new Date() },
  });
  expect(await claim(endpoint)).toEqual([]);
});

test('endpoints with pending deliveries are listed in a fixed order, after a given one', async () => {
  const endpoints = [await newEndpoint(5), await newEndpoint(1), await newEndpoint(2)];
  await newEndpoint(0);
  const list = (after: EndpointKey, limit: number) => listPendingEndpoints(db, { after, limit });
  const all = await list(FIRST_ENDPOINT, 10);
  expect(all.map(({ endpointId }) => endpointId).toSorted()).toEqual(
    endpoints.map(({ endpointId }) => endpointId).toSorted(),
  );
  const [first = FIRST_ENDPOINT, second = FIRST_ENDPOINT] = all;
  expect(await list(FIRST_ENDPOINT, 2)).toEqual(all.slice(0, 2));
  expect(await list(first, 10)).toEqual(all.slice(1));
  expect(await list(second, 10)).toEqual(all.slice(2));
});

test('an endpoint is ready if a delivery is due, it is enabled and its organization is not suspended', async () => {
  const { organizationId, ...endpoint } = await newEndpoint(1);
  const only = async () => (await listPendingEndpoints(db, { after: FIRST_ENDPOINT, limit: 10 }))[0];
  expect(await only()).toEqual({ organizationId, endpointId: endpoint.endpointId, isReady: true, isFailing: false });
  const isReadyWith = async (change: string) => {
    return inTransaction(db, async (client) => {
      await client.query(change);
      await client.query('commit');
      return (await only())?.isReady;
    });
  };
  expect(await isReadyWith(`update webhook_deliveries set next_attempt_at = now() + interval '1 hour'`)).toBe(false);
  expect(await isReadyWith(`update webhook_deliveries set next_attempt_at = now() - interval '1 second'`)).toBe(true);
  expect(await isReadyWith(`update webhook_endpoints set disabled_at = now(), disabled_reason = 'user'`)).toBe(false);
  expect(await isReadyWith(`update webhook_endpoints set disabled_at = null, disabled_reason = null`)).toBe(true);
  expect(await isReadyWith(`update organizations set suspended_at = now()`)).toBe(false);
});

test('results of several endpoints are written in one statement', async () => {
  const [well, broken] = [await newEndpoint(2), await newEndpoint(2)];
  const results = [
    ...(await claim(well)).map((delivery) => resultOf(delivery)),
    ...(await claim(broken)).map((delivery) => resultOf(delivery, { status: null, error: 'refused', retryMs: null })),
  ];
  expect(await recordAttempts(db, results, { failingDays })).toEqual([]);
  for (const { state, failures, nextAttemptAt, log } of await listDeliveries(db, well)) {
    expect({ state, failures, nextAttemptAt }).toEqual({ state: 'succeeded', failures: 0, nextAttemptAt: null });
    expect(log).toMatchObject([
      { number: 1, status: 200, durationMs: 12, responseBody: Uint8Array.from(Buffer.from('fine')) },
    ]);
  }
  for (const { state, failures, nextAttemptAt, log } of await listDeliveries(db, broken)) {
    expect({ state, failures, nextAttemptAt }).toEqual({ state: 'failed', failures: 1, nextAttemptAt: null });
    expect(log).toMatchObject([{ status: null, error: 'refused' }]);
  }
  const days = await db.prisma.webhookDay.findMany({ select: { endpointId: true, succeeded: true, failed: true } });
  expect(days).toHaveLength(2);
  expect(days).toContainEqual({ endpointId: well.endpointId, succeeded: 2n, failed: 0n });
  expect(days).toContainEqual({ endpointId: broken.endpointId, succeeded: 0n, failed: 2n });
});

// The case: the connection is lost after the commit, and the process writes the same results again.
test('a result that is written twice counts once', async () => {
  const endpoint = await newEndpoint(1);
  const [delivery] = await claim(endpoint);
  const result = resultOf(delivery, FAILED);
  await recordAttempts(db, [result], { failingDays });
  const before = await listDeliveries(db, endpoint);
  await recordAttempts(db, [result], { failingDays });
  expect(await listDeliveries(db, endpoint)).toEqual(before);
  expect(await db.prisma.webhookDay.findMany()).toMatchObject([{ failed: 1n }]);
});

test('a late failure does not change a delivery that another process has taken over; a late success does', async () => {
  const endpoint = await newEndpoint(2);
  const late = await claim(endpoint);
  await db.pool.query(`update webhook_deliveries set next_attempt_at = now() - interval '1 second'`);
  const [taken] = await claim(endpoint, 1);
  const before = await listDeliveries(db, endpoint);
  await recordAttempts(
    db,
    [
      resultOf(
        late.find(({ messageId }) => messageId === taken?.messageId),
        FAILED,
      ),
    ],
    { failingDays },
  );
  const [after] = await listDeliveries(db, endpoint);
  expect(after?.log.length).toBe(1);
  expect({ ...after, log: [] }).toEqual(before[0]);
  await recordAttempts(db, [resultOf(late[0])], { failingDays });
  await recordAttempts(db, [{ ...resultOf(late[1]), number: 7 }], { failingDays });
  expect((await listDeliveries(db, endpoint)).map(({ state }) => state)).toEqual(['pending', 'succeeded']);
});

test('a resend during an attempt is not undone by its failure', async () => {
  const endpoint = await newEndpoint(1);
  await claim(endpoint);
  await db.pool.query(`update webhook_deliveries set failures = 7, attempts = 8`);
  const [row] = await listDeliveries(db, endpoint);
  const delivery = { ...endpoint, messageId: row?.messageId ?? '', number: 8, failures: 7 };
  await db.pool.query(`update webhook_deliveries set failures = 0, next_attempt_at = now() - interval '1 second'`);
  const result = { ...resultOf({ ...delivery, url: '', previousSecret: null, body: '' }, FAILED), retryMs: null };
  await recordAttempts(db, [result], { failingDays });
  expect((await listDeliveries(db, endpoint))[0]).toMatchObject({ state: 'pending', failures: 0 });
});

test('failing_since is the first failed attempt after the last successful one', async () => {
  const endpoint = await newEndpoint(6);
  const deliveries = await claim(endpoint);
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute));
  const write = async (...results: [minute: number, status: number][]) => {
    const group = results.map(([minute, status]) => resultOf(deliveries.pop(), { at: at(minute), status }));
    await recordAttempts(db, group, { failingDays: 100_000 });
    return (await db.prisma.webhookEndpoint.findFirst())?.failingSince;
  };
  expect(await write([2, 500], [1, 500])).toEqual(at(1));
  expect(await write([3, 503])).toEqual(at(1));
  expect(await write([6, 500], [5, 200])).toEqual(at(6));
  expect(await write([7, 204])).toBeNull();
});

test('an endpoint that has only failed for more than five days is returned after another failure, not after a success', async () => {
  const endpoint = await newEndpoint(2);
  const [first, second] = await claim(endpoint);
  const since = (days: number) =>
    db.prisma.webhookEndpoint.updateMany({ data: { failingSince: new Date(Date.now() - days * 86_400_000) } });
  await since(5.01);
  const { organizationId, endpointId } = endpoint;
  expect(await recordAttempts(db, [resultOf(first, FAILED)], { failingDays })).toEqual([
    { organizationId, endpointId, url: 'https://hook.example' },
  ]);
  expect(await recordAttempts(db, [resultOf(second)], { failingDays })).toEqual([]);
});

test('an attempt at a former URL counts among the attempts, but not for the present URL', async () => {
  const endpoint = await newEndpoint(3);
  const [failed, succeeded, another] = await claim(endpoint);
  const FORMER = { url: 'https://former.example' };
  const failingSince = async () => (await db.prisma.webhookEndpoint.findFirst())?.failingSince;
  await recordAttempts(db, [resultOf(failed, { ...FAILED, ...FORMER })], { failingDays });
  expect(await failingSince()).toBeNull();
  const since = new Date(Date.now() - 6 * 86_400_000);
  await db.prisma.webhookEndpoint.updateMany({ data: { failingSince: since } });
  const late = [resultOf(succeeded, FORMER), resultOf(another, { ...FAILED, ...FORMER })];
  expect(await recordAttempts(db, late, { failingDays })).toEqual([]);
  expect(await failingSince()).toEqual(since);
  expect(await db.prisma.webhookDay.findMany()).toMatchObject([{ succeeded: 1n, failed: 2n }]);
  expect((await listDeliveries(db, endpoint)).map(({ log }) => log.length)).toEqual([1, 1, 1]);
});

test('deliveries that wait are counted, and those that are due', async () => {
  const endpoint = await newEndpoint(5);
  await claim(endpoint, 2);
  expect(await countPendingDeliveries(db)).toEqual({ pending: 5, due: 3 });
});

// A query that is fast with a few rows may read the whole table if there are many.
test('pending endpoints and due deliveries are found by their index, past any number of deliveries', async () => {
  const endpoints = [await newEndpoint(4000), await newEndpoint(4000), await newEndpoint(4000)];
  const [sent = FIRST_ENDPOINT, waiting = FIRST_ENDPOINT, due = FIRST_ENDPOINT] = endpoints;
  const set = (change: string, { endpointId }: EndpointKey) =>
    db.pool.query(`update webhook_deliveries set ${change} where endpoint_id = $1`, [endpointId]);
  await set(`state = 'succeeded', next_attempt_at = null`, sent);
  await set(`next_attempt_at = now() + interval '1 hour'`, waiting);
  await db.pool.query('vacuum analyze webhook_deliveries, webhook_endpoints, organizations');
  const explained = await openWithAutoExplain(url);
  const plans = await explained.explainAll(async () => {
    // After five executions, PostgreSQL may choose a generic plan.
    for (let i = 0; i < 8; i += 1) {
      expect(await listPendingEndpoints(explained.db, { after: FIRST_ENDPOINT, limit: 200 })).toHaveLength(2);
      const claims = [{ ...due, count: 5 }];
      const claimed = await claimDeliveries(explained.db, claims, { leaseSeconds });
      expect(claimed).toHaveLength(5);
      await recordAttempts(
        explained.db,
        claimed.map((each) => resultOf(each)),
        { failingDays },
      );
    }
  });
  await explained.db.close();
  const ours = plans.filter(({ text }) => text.includes('webhook_deliveries'));
  expect(ours.length).toBeGreaterThanOrEqual(24);
  for (const { text, blocks } of ours) {
    expect(text).not.toMatch(/Seq Scan on webhook_deliveries/);
    expect({ text, isSmall: blocks < 300 }).toEqual({ text, isSmall: true });
  }
});
