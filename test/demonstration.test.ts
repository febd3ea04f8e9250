import { issueDemonstrationKey, seed } from '../prisma/seed.ts';
import { hashKey, judgeKey } from '../src/domain/keys/api-key.ts';
import { requestsOf, totalOf } from '../src/domain/keys/key-usage.ts';
import { OrganizationScope } from '../src/domain/organizations/organization-scope.ts';
import { sumOrganizationUse } from '../src/store/keys/key-uses.ts';
import { listKeysByHash } from '../src/store/unscoped/keys.ts';
import { openTestDatabase } from './support/postgres/store.ts';

test('of five processes that start with ten keys present, each gets a working key, and ten keys remain', async () => {
  const { db, close } = await openTestDatabase();
  await seed(db, 'live');
  for (let i = 0; i < 10; i += 1) await issueDemonstrationKey(db, 'live');
  const keys = await Promise.all(Array.from({ length: 5 }, () => issueDemonstrationKey(db, 'live')));
  expect(new Set(keys).size).toBe(5);
  for (const key of keys) {
    const [record = null] = (await listKeysByHash(db, [hashKey(key ?? '')])).values();
    expect(record && judgeKey(record, new Date())).toMatchObject({ kind: 'active' });
  }
  const user = { email: 'administrator@northwind.example' };
  expect(await db.prisma.apiKey.count({ where: { revokedAt: null, user } })).toBe(10);
  await close();
});

test('the demonstration has keys in use, whose charts are filled up to the present hour', async () => {
  const { db, close } = await openTestDatabase();
  const now = new Date();
  await seed(db, 'test', now);
  const { id: userId, organizationId } = await db.prisma.user.findFirstOrThrow({
    where: { email: 'manager@northwind.example' },
  });
  const scope = OrganizationScope.grant(organizationId);
  const { usage, mostUsed } = await sumOrganizationUse(db, scope, {
    ...{ now, keys: 10, keyIds: null, operation: null, from: null, to: null },
  });
  expect([usage.day, usage.hour].map((uses) => uses.filter((use) => requestsOf(use) > 0).length)).toEqual([30, 48]);
  // The hours of a day add up to the numbers of the day.
  const [yesterday, ofYesterday] = [usage.day.at(-2), new Date(now.getTime() - 86_400_000).toISOString().slice(0, 10)];
  const hours = usage.hour.filter(({ startsAt }) => startsAt.toISOString().startsWith(ofYesterday));
  expect(hours).toHaveLength(24);
  expect(totalOf(hours)).toEqual(totalOf(yesterday === undefined ? [] : [yesterday]));
  expect(mostUsed.map(({ name }) => name)).toEqual([
    'Partner portal',
    'Nightly import, production',
    'Enrolment sync, production',
    'Reporting script',
  ]);
  const keys = await db.prisma.apiKey.findMany({ where: { organizationId }, orderBy: { name: 'asc' } });
  expect(keys.map(({ name, lastUsedAt, revokedAt }) => [name, lastUsedAt !== null, revokedAt !== null])).toEqual([
    ['Enrolment sync, production', true, false],
    ['Nightly import, production', true, false],
    ['Partner portal', true, false],
    ['Reporting script', true, true],
    ['Staging tests', false, false],
  ]);
  for (const { keyPrefix, lastUsedAt } of keys) {
    expect(keyPrefix).toMatch(/^charter_test_\w{4}$/);
    expect(lastUsedAt === null || lastUsedAt <= now).toBe(true);
  }
  expect(keys.filter((key) => key.userId === userId)).toHaveLength(2);
  const integration = await db.prisma.user.findFirstOrThrow({ where: { organizationId, kind: 'integration' } });
  expect(keys.filter((key) => key.userId === integration.id && key.createdAt <= integration.createdAt)).toEqual([]);
  // The pages link the counts of refused requests to these requests.
  const refused = await db.prisma.keyRequest.groupBy({
    by: ['keyId'],
    where: { status: { gte: 400 }, at: { lte: now } },
  });
  expect(refused).toHaveLength(4);
  await close();
});
