import type { Actor } from '../../../src/domain/audit/actor.ts';
import { DEFAULT_LIMITS } from '../../../src/domain/keys/request-limits.ts';
import { issueKey, type KeyRequest } from '../../../src/service/keys/issue-key.ts';
import { moveKey } from '../../../src/service/keys/move-key.ts';
import { type Restricting, restrictKey } from '../../../src/service/keys/restrict-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { changeLimits } from '../../../src/service/operator/organizations.ts';
import { changePolicy } from '../../../src/service/organizations/policy.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { createPeople, giveKey, listAuditEventsOf, outcomeOf, READ } from '../../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../../support/data/integrations.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const HOME = '203.0.113.7';
const NONE = { addresses: '', requestsPerSecond: null, requestLimits: DEFAULT_LIMITS };
const REQUIRING = {
  membersMayCreateKeys: true,
  maxKeyLifeDays: 365,
  allowsUnendingKeys: false,
  requiresAddresses: true,
};

function restrict(by: Actor, holder: Pick<Actor, 'userId'>, id: string, change: Partial<Restricting> = {}) {
  const request = { ...NONE, lockedOut: [], keyId: id, userId: holder.userId, ...change };
  return restrictKey(db, by, request);
}

async function stored(id: string) {
  const { allowedAddresses, requestsPerSecond } = await db.prisma.apiKey.findFirstOrThrow({ where: { id } });
  return [allowedAddresses.join(' '), requestsPerSecond];
}

const create = (by: Actor, change: Partial<KeyRequest> = {}) =>
  issueKey(db, by, {
    userId: by.userId,
    name: crypto.randomUUID(),
    permissions: ['parent_programs:write'],
    lifeDays: 30,
    environment: 'live',
    ...change,
  });

test('a restriction is stored in canonical form and recorded with the state before it', async () => {
  const { administrator, member } = await createPeople(db);
  const { id } = await giveKey(db, member);
  const first = { addresses: '203.0.113.9/24\n2001:DB8::1 203.0.113.0/24', requestsPerSecond: 20 };
  expect(await restrict(member, member, id, first)).toEqual({ kind: 'done' });
  expect(await stored(id)).toEqual(['203.0.113.0/24 2001:db8::1', 20]);
  expect(await restrict(administrator, member, id, { addresses: '203.0.113.7', requestsPerSecond: 20 })).toEqual({
    kind: 'done',
  });
  expect(await restrict(administrator, member, id)).toEqual({ kind: 'done' });
  // Repeating the restriction changes nothing.
  expect(await restrict(administrator, member, id)).toEqual({ kind: 'done' });
  expect(await stored(id)).toEqual(['', null]);
  const events = (await listAuditEventsOf(db, member)).filter(({ action }) => action === 'key.restricted');
  const of = { targetUserId: member.userId, keyId: id };
  expect(events).toMatchObject([
    { ...of, actorUserId: member.userId },
    { ...of, actorUserId: administrator.userId },
    { ...of, actorUserId: administrator.userId },
  ]);
  expect(events.map(({ detail }) => detail)).toEqual([
    {
      before: 'anywhere',
      addresses: '203.0.113.0/24 2001:db8::1',
      'requests per second': 'that of the organization -> 20',
    },
    { before: '203.0.113.0/24 2001:db8::1', addresses: '203.0.113.7' },
    {
      before: '203.0.113.7',
      addresses: 'anywhere',
      'requests per second': '20 -> that of the organization',
    },
  ]);
});

test('the longest list is recorded as a whole', async () => {
  const { member } = await createPeople(db);
  const { id } = await giveKey(db, member);
  const network = (i: number) => `2001:db8:aaaa:bbbb:cccc:dddd:eeee:f${(2 * i).toString(16).padStart(3, '0')}/127`;
  const addresses = Array.from({ length: 50 }, (_, i) => network(i)).join('\n');
  expect(await restrict(member, member, id, { addresses })).toEqual({ kind: 'done' });
  const [list = ''] = await stored(id);
  expect(String(list).length).toBeGreaterThan(2000);
  expect((await listAuditEventsOf(db, member)).at(-1)).toMatchObject({ detail: { addresses: list } });
});

test('a new key has the restrictions of its form, which are recorded', async () => {
  const { member } = await createPeople(db);
  const restrictions = { ...NONE, addresses: '::ffff:203.0.113.7', requestsPerSecond: 5 };
  const { id } = orThrow(await create(member, { restrictions }));
  expect(await stored(id)).toEqual(['203.0.113.7', 5]);
  expect((await listAuditEventsOf(db, member)).at(-1)).toMatchObject({
    action: 'key.created',
    detail: { addresses: '203.0.113.7', 'requests per second': '5' },
  });
});

test('a rotation and a move keep the restrictions', async () => {
  const { member } = await createPeople(db);
  const integration = await giveIntegration(db, member);
  const { id, name } = await giveKey(db, member);
  await restrict(member, member, id, { addresses: '203.0.113.7\n2001:db8::/32', requestsPerSecond: 5 });
  const { userId } = member;
  const successor = orThrow(await rotateKey(db, member, { keyId: id, userId, environment: 'live' }));
  expect(await stored(successor.id)).toEqual(['203.0.113.7 2001:db8::/32', 5]);
  orThrow(await moveKey(db, member, { keyId: successor.id, userId, integrationId: integration.id, name }));
  expect(await stored(successor.id)).toEqual(['203.0.113.7 2001:db8::/32', 5]);
  const again = { keyId: successor.id, userId: integration.id, environment: 'live' } as const;
  const last = orThrow(await rotateKey(db, member, { ...again, addresses: '198.51.100.7' }));
  expect(await stored(last.id)).toEqual(['198.51.100.7', 5]);
  expect((await listAuditEventsOf(db, member)).at(-1)).toMatchObject({ detail: { addresses: '198.51.100.7' } });
});

describe('who may restrict a key', () => {
  const DENIED = /^forbidden|^refused|^not_found/;

  test('whoever may rotate it: a member their own, a manager those of members, nobody those of somebody above', async () => {
    const { administrator, manager, member, viewer } = await createPeople(db);
    const other = await createPeople(db);
    const keys = new Map(
      await Promise.all(
        [administrator, manager, member, viewer].map(
          async (holder) => [holder, (await giveKey(db, holder)).id] as const,
        ),
      ),
    );
    const outcome = (by: Actor, holder: Actor) => outcomeOf(restrict(by, holder, keys.get(holder) ?? ''));
    for (const [by, holder] of [
      [member, member],
      [manager, member],
      [manager, viewer],
      [administrator, manager],
    ] as const)
      expect(await outcome(by, holder)).toBe('done');
    for (const [by, holder] of [
      [viewer, viewer],
      [member, viewer],
      [manager, administrator],
      [other.administrator, member],
    ] as const)
      expect(await outcome(by, holder)).toMatch(DENIED);
  });

  test('the owner of an integration may restrict its keys, and another member may not', async () => {
    const { member, administrator } = await createPeople(db);
    const stranger = await createPeople(db);
    const integration = await giveIntegration(db, member);
    const key = await giveIntegrationKey(db, member, integration);
    const holder = { userId: integration.id };
    expect(await outcomeOf(restrict(member, holder, key.id, { requestsPerSecond: 5 }))).toBe('done');
    expect(await outcomeOf(restrict(administrator, holder, key.id))).toBe('done');
    expect(await outcomeOf(restrict(stranger.member, holder, key.id))).toMatch(DENIED);
  });

  test('an ended key, and a key of somebody else under this user, cannot be restricted', async () => {
    const { administrator, member } = await createPeople(db);
    const { id } = await giveKey(db, member);
    expect(await outcomeOf(restrict(administrator, administrator, id))).toMatch(/^not_found/);
    expect(await outcomeOf(restrict(administrator, member, 'no id'))).toMatch(/^not_found/);
    orThrow(await rotateKey(db, member, { keyId: id, userId: member.userId, environment: 'live' }));
    expect(await outcomeOf(restrict(administrator, member, id))).toMatch(/^conflict: The key .* was rotated by/);
  });
});

test('every mistake is reported at once, and nothing is changed', async () => {
  const { administrator, scope } = await createPeople(db);
  const { id } = await giveKey(db, administrator);
  const outcome = await restrict(administrator, administrator, id, { addresses: 'x', requestsPerSecond: 0 });
  expect(outcome).toMatchObject({
    kind: 'invalid',
    fields: {
      addresses: [expect.stringMatching(/line 1: “x”/)],
      requests_per_second: ['must be an integer from 1 to 500, or empty for the limit of your organization.'],
    },
  });
  for (const requestsPerSecond of [501, 1.5, -1, Number.NaN, 2 ** 31])
    expect((await restrict(administrator, administrator, id, { requestsPerSecond })).kind).toBe('invalid');
  expect((await restrict(administrator, administrator, id, { requestsPerSecond: 500 })).kind).toBe('done');
  // Without a limit for each key, a key can have a limit as high as the organization's.
  await changeLimits(db, scope.organizationId, { perKey: 0, perOrganization: 2000 });
  expect((await restrict(administrator, administrator, id, { requestsPerSecond: 2000 })).kind).toBe('done');
  expect((await restrict(administrator, administrator, id, { requestsPerSecond: 2001 })).kind).toBe('invalid');
  await changeLimits(db, scope.organizationId, { perKey: 0, perOrganization: 0 });
  expect((await restrict(administrator, administrator, id, { requestsPerSecond: 1_000_000 })).kind).toBe('done');
  expect((await restrict(administrator, administrator, id, { requestsPerSecond: 1_000_001 })).kind).toBe('invalid');
  expect(await outcomeOf(create(administrator, { restrictions: { ...NONE, addresses: 'x' } }))).toMatch(/^invalid/);
});

test('the addresses of a key can be changed while its limit is above that of the organization, which an operator has lowered', async () => {
  const { member, scope } = await createPeople(db);
  const { id } = await giveKey(db, member);
  expect((await restrict(member, member, id, { requestsPerSecond: 400 })).kind).toBe('done');
  await changeLimits(db, scope.organizationId, { perKey: 100, perOrganization: 1000 });
  expect((await restrict(member, member, id, { addresses: HOME, requestsPerSecond: 400 })).kind).toBe('done');
  expect(await stored(id)).toEqual([HOME, 400]);
  expect((await restrict(member, member, id, { addresses: HOME, requestsPerSecond: 399 })).kind).toBe('invalid');
});

describe('networks that were used within the last day', () => {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

  async function used(networks: Record<string, string>) {
    const { administrator } = await createPeople(db);
    const { id } = await giveKey(db, administrator);
    await db.prisma.apiKey.updateMany({ where: { id }, data: { usedNetworks: networks } });
    return (change: Partial<Restricting>) => restrict(administrator, administrator, id, change);
  }

  test('are locked out only with agreement to each of them', async () => {
    const change = await used({
      '203.0.113.7': day(0),
      '2001:db8:0:0::/64': day(1),
      '198.51.100.7': day(3),
      unknown: day(0),
    });
    const addresses = '192.0.2.0/24';
    const networks = ['203.0.113.7', '2001:db8::/64'];
    expect(await change({ addresses })).toEqual({ kind: 'locks-out', networks });
    expect(await change({ addresses, lockedOut: ['203.0.113.7'] })).toEqual({
      kind: 'locks-out',
      networks: ['2001:db8::/64'],
    });
    expect(await change({ addresses, lockedOut: networks })).toEqual({ kind: 'done' });
    // The earlier change has already locked these networks out, so no agreement is needed.
    expect(await change({ addresses: '192.0.2.1' })).toEqual({ kind: 'done' });
  });

  test('need no agreement if the list has them', async () => {
    const change = await used({ '203.0.113.7': day(0), '2001:db8:0:0::/64': day(0) });
    expect(await change({ addresses: '203.0.113.0/24 2001:db8::/32' })).toEqual({ kind: 'done' });
    expect(await change({ addresses: '203.0.113.0/24 2001:db8::1' })).toEqual({
      kind: 'locks-out',
      networks: ['2001:db8::/64'],
    });
    expect(await change({ addresses: '' })).toEqual({ kind: 'done' });
  });
});

describe('an organization that requires addresses for keys that may write', () => {
  const LACKING = /^invalid: addresses must have at least one entry: your organization requires/;

  async function requiring() {
    const people = await createPeople(db);
    const old = await giveKey(db, people.member);
    const reader = await giveKey(db, people.member, { permissions: READ });
    orThrow(await changePolicy(db, people.administrator, REQUIRING));
    return { ...people, old, reader };
  }

  test('creates no such key without them', async () => {
    const { member } = await requiring();
    expect(await outcomeOf(create(member))).toMatch(LACKING);
    expect(await outcomeOf(create(member, { restrictions: { ...NONE, addresses: ' \n' } }))).toMatch(LACKING);
    expect(await outcomeOf(create(member, { restrictions: { ...NONE, addresses: '203.0.113.7' } }))).toBe('done');
    expect(await outcomeOf(create(member, { permissions: READ }))).toBe('done');
  });

  test('takes no list away, and lets a key without one stay valid until it is restricted or rotated', async () => {
    const { member, old, reader } = await requiring();
    const { userId } = member;
    expect(await outcomeOf(restrict(member, member, old.id, { requestsPerSecond: 5 }))).toMatch(LACKING);
    const rotation = { keyId: old.id, userId, environment: 'live' } as const;
    expect(await outcomeOf(rotateKey(db, member, rotation))).toMatch(LACKING);
    expect(await outcomeOf(rotateKey(db, member, { ...rotation, addresses: '' }))).toMatch(LACKING);
    expect(await outcomeOf(rotateKey(db, member, { ...rotation, addresses: 'x' }))).toMatch(/^invalid: addresses has/);
    expect(await outcomeOf(restrict(member, member, reader.id))).toBe('done');
    const { id } = orThrow(await rotateKey(db, member, { ...rotation, addresses: '203.0.113.7' }));
    expect(await outcomeOf(rotateKey(db, member, { ...rotation, keyId: id }))).toBe('done');
  });
});

test('of concurrent restrictions and rotations, the successor has the list that the key had at its end', async () => {
  const { administrator, member } = await createPeople(db);
  const { id } = await giveKey(db, member);
  const { userId } = member;
  const outcomes = await Promise.all([
    ...Array.from({ length: 4 }, (_, i) => restrict(administrator, member, id, { addresses: `192.0.2.${i}` })),
    rotateKey(db, administrator, { keyId: id, userId, environment: 'live' }),
  ]);
  expect(outcomes.map(({ kind }) => kind)).toContain('issued');
  const [old, successor] = await db.prisma.apiKey.findMany({ where: { userId }, orderBy: { createdAt: 'asc' } });
  expect(successor?.allowedAddresses).toEqual(old?.allowedAddresses);
});
