// What happens when clocks are set back. Tests set the server's clock by an option. They simulate PostgreSQL's clock by moving
// the organization's version ahead, because the version is never less than the time of a change.
import type { PoolClient } from 'pg';
import { OrganizationScope } from '../../src/domain/organizations/organization-scope.ts';
import { listKeys } from '../../src/service/keys/list-keys.ts';
import { rotateKey } from '../../src/service/keys/rotate-key.ts';
import { createActor } from '../support/data/actors.ts';
import { inTransaction, untilWaiting } from '../support/postgres/postgres.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';
import { readFeed } from '../support/traffic/feed.ts';

const MINUTE_MS = 60_000;
const LIST = '/api/parent_programs';
/** The row lock of every change that ends a key. */
const LOCK = 'select from organizations where id = $1 for no key update';

const clock = { aheadMs: 0 };
const server = await useServer({ clock: () => Date.now() + clock.aheadMs });
beforeEach(() => {
  clock.aheadMs = 0;
});

async function organizationWithExpiry(inMs: number): Promise<TestOrganization & { keyId: string }> {
  const organization = await createTestOrganization(server);
  const { id: keyId } = (await organization.client.get('/api/key')).body;
  await setExpiry(organization, new Date(Date.now() + inMs));
  return { ...organization, keyId };
}

async function setExpiry({ id: organizationId }: TestOrganization, expiresAt: Date): Promise<void> {
  await server.db.prisma.apiKey.updateMany({ where: { organizationId }, data: { expiresAt } });
}

async function moveExpiry(operator: PoolClient, { keyId }: { keyId: string }, inMs: number): Promise<void> {
  await operator.query('update api_keys set expires_at = $2 where id = $1', [keyId, new Date(Date.now() + inMs)]);
}

/** Sends a request that waits for a lock while an operator moves the key's expiry, and returns the response. */
async function sendWhileExpiryMoves(
  organization: TestOrganization & { keyId: string },
  { inMs, send }: { inMs: number; send: () => ReturnType<TestOrganization['client']['get']> },
) {
  return inTransaction(server.db, async (operator) => {
    await operator.query(LOCK, [organization.id]);
    const sending = send();
    await untilWaiting(server.db.pool, 1);
    await moveExpiry(operator, organization, inMs);
    await operator.query('commit');
    return sending;
  });
}

async function statusesOf({ client }: TestOrganization) {
  const [read, write] = [await client.get(LIST), await client.post(LIST, { name: 'Program' })];
  return { read: read.status, write: write.status };
}

// The attack: use of an expired key on another server, or after the server's clock, which was too far ahead, was corrected.
test('a key that was refused as expired stays expired after the clock was set back', async () => {
  const organization = await organizationWithExpiry(5 * MINUTE_MS);
  const other = await organizationWithExpiry(5 * MINUTE_MS);
  expect(await statusesOf(organization)).toEqual({ read: 200, write: 201 });
  clock.aheadMs = 10 * MINUTE_MS;
  const refused = await Promise.all(Array.from({ length: 20 }, () => organization.client.get(LIST)));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
  clock.aheadMs = 0;
  expect(await statusesOf(organization)).toEqual({ read: 401, write: 401 });
  expect((await organization.client.get(LIST)).body.message).toMatch(/^This API key expired at 20/);
  // `other` was never refused as expired, so it works again.
  expect(await statusesOf(other)).toEqual({ read: 200, write: 201 });
});

test('the dashboard shows such a key as expired, and does not rotate it', async () => {
  const organization = await organizationWithExpiry(5 * MINUTE_MS);
  clock.aheadMs = 10 * MINUTE_MS;
  expect((await organization.client.get(LIST)).status).toBe(401);
  clock.aheadMs = 0;
  const { db } = server;
  const { id: userId } = await db.prisma.user.findFirstOrThrow({ where: { email: organization.email } });
  const actor = await createActor(db, OrganizationScope.grant(organization.id), 'administrator');
  const [active, ended] = [
    await listKeys(db, actor, userId, { isActive: true }),
    await listKeys(db, actor, userId, { isActive: false }),
  ];
  expect(active.keys).toEqual([]);
  expect(ended.keys).toMatchObject([{ id: organization.keyId, state: 'expired', isExpiringSoon: false }]);
  expect(ended.counts).toEqual({ active: 0, ended: 1 });
  const rotation = { keyId: organization.keyId, userId, environment: 'live' } as const;
  expect(await rotateKey(db, actor, rotation)).toMatchObject({
    kind: 'conflict',
    message: expect.stringMatching(/^The key "Test" expired on /),
  });
});

// The race: PostgreSQL's clock, which judges writes, is ahead of the server's clock, which judges everything else.
test('a key whose write was refused as expired cannot read either', async () => {
  const organization = await organizationWithExpiry(-MINUTE_MS);
  clock.aheadMs = -10 * MINUTE_MS;
  expect(await statusesOf(organization)).toEqual({ read: 200, write: 401 });
  expect(await statusesOf(organization)).toEqual({ read: 401, write: 401 });
  await setExpiry(organization, new Date(Date.now() - MINUTE_MS / 2));
  expect((await organization.client.get(LIST)).status).toBe(200);
});

// The race: a write has begun and waits while another request with the same key is refused.
test('a write that waits while its key is refused as expired is refused as well', async () => {
  const organization = await organizationWithExpiry(5 * MINUTE_MS);
  const { id: organizationId, client, keyId } = organization;
  const outcome = await inTransaction(server.db, async (holder) => {
    await holder.query(LOCK, [organizationId]);
    const writing = client.post(LIST, { name: 'Late' });
    await untilWaiting(server.db.pool, 1);
    await holder.query('update api_keys set expired_at = expires_at where id = $1', [keyId]);
    await holder.query('commit');
    return writing;
  });
  expect(outcome).toMatchObject({
    status: 401,
    body: { message: expect.stringMatching(/^This API key expired at 20/) },
  });
});

// The race: an operator sets a later expiry after the key was judged and before the refusal is recorded.
test('a refusal does not end a key whose expiry an operator has moved since', async () => {
  const organization = await organizationWithExpiry(-MINUTE_MS);
  const send = () => organization.client.get(LIST);
  const refused = await sendWhileExpiryMoves(organization, { inMs: 5 * MINUTE_MS, send });
  expect(refused.status).toBe(401);
  expect(await statusesOf(organization)).toEqual({ read: 200, write: 201 });
});

// The race: an operator sets an earlier expiry after the key was accepted and before PostgreSQL judges its write.
test('a key whose write was refused for an earlier expiry cannot read either', async () => {
  const organization = await organizationWithExpiry(5 * MINUTE_MS);
  clock.aheadMs = -10 * MINUTE_MS;
  const send = () => organization.client.post(LIST, { name: 'Late' });
  const refused = await sendWhileExpiryMoves(organization, { inMs: -MINUTE_MS, send });
  expect(refused.status).toBe(401);
  expect(await statusesOf(organization)).toEqual({ read: 401, write: 401 });
});

// The race: while a refusal for the old expiry waits to be recorded, an operator sets a later expiry, and another request is
// refused because of the later expiry.
test('a refusal for a moved expiry is recorded beside that for the earlier one', async () => {
  const organization = await organizationWithExpiry(5 * MINUTE_MS);
  clock.aheadMs = 10 * MINUTE_MS;
  const refused = await inTransaction(server.db, (next) =>
    inTransaction(server.db, async (operator) => {
      await operator.query(LOCK, [organization.id]);
      const locking = next.query(LOCK, [organization.id]);
      await untilWaiting(server.db.pool, 1);
      const refusing = [organization.client.get(LIST)];
      await untilWaiting(server.db.pool, 2);
      await moveExpiry(operator, organization, 6 * MINUTE_MS);
      await operator.query('commit');
      await locking;
      refusing.push(organization.client.get(LIST));
      await untilWaiting(server.db.pool, 2);
      await next.query('commit');
      return Promise.all(refusing);
    }),
  );
  expect(refused.map(({ status }) => status)).toEqual([401, 401]);
  clock.aheadMs = 0;
  expect(await statusesOf(organization)).toEqual({ read: 401, write: 401 });
});

test('an operator can give such a key a later expiry', async () => {
  const organization = await organizationWithExpiry(-MINUTE_MS);
  expect((await organization.client.get(LIST)).status).toBe(401);
  await setExpiry(organization, new Date(Date.now() + MINUTE_MS));
  expect(await statusesOf(organization)).toEqual({ read: 200, write: 201 });
});

/** Sets the version as a change would do if PostgreSQL's clock were `byMs` milliseconds ahead. */
async function moveVersionAhead({ id }: TestOrganization, byMs: number): Promise<void> {
  await server.db.pool.query('alter table organizations disable trigger organizations_version');
  const version = BigInt(Date.now() + byMs) * 1000n;
  await server.db.prisma.organization.update({ where: { id }, data: { version } });
  await server.db.pool.query('alter table organizations enable always trigger organizations_version');
}

// The risk: a client lists what has changed since its last list, after PostgreSQL's clock was set back by ten minutes.
test('updated_since finds the changes after the clock of PostgreSQL was set back', async () => {
  const { client, ...organization } = await createTestOrganization(server);
  const { body: first } = await client.post(LIST, { name: 'First' });
  await moveVersionAhead({ client, ...organization }, 10 * MINUTE_MS);
  const { body: latest } = await client.post(LIST, { name: 'Latest' });
  expect(Date.parse(latest.updated_at)).toBeGreaterThan(Date.now() + 9 * MINUTE_MS);

  const { body: created } = await client.post(LIST, { name: 'Created' });
  const { body: once } = await client.post(LIST, { name: 'Once' }, { headers: { 'Idempotency-Key': 'once' } });
  const { body: updated } = await client.patch(`${LIST}/${first.id}`, { name: 'Updated' });
  expect(created.created_at).toBe(created.updated_at);
  const since = encodeURIComponent(latest.updated_at);
  for (const sort of ['created_at', 'updated_at', '-updated_at', 'name']) {
    const { body } = await client.get(`${LIST}?updated_since=${since}&sort=${sort}`);
    const ids = body.data.map(({ id }: { id: string }) => id).sort();
    expect(ids).toEqual([latest.id, created.id, once.id, updated.id].sort());
  }
  const { events } = await readFeed(client);
  expect(events.map(({ data }) => data.name)).toEqual(['First', 'Latest', 'Created', 'Once', 'Updated']);
  for (const { timestamp, data } of events) expect(timestamp >= data.updated_at).toBe(true);
});
