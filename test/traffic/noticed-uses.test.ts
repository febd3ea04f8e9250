import { changeNoticeSettings } from '../../src/service/organizations/policy.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { startKeyUses } from '../../src/traffic/last-used.ts';
import { createPeople, giveKey } from '../support/data/actors.ts';
import { listNoticesOf } from '../support/data/key-notices.ts';
import { useSharedDatabase } from '../support/postgres/store.ts';

const { db } = await useSharedDatabase();

test('more than a hundred refusals by a rate limit in an hour cause one notice a day, however the hour is split', async () => {
  const { member, scope } = await createPeople(db);
  const { id } = await giveKey(db, member, { name: 'Busy' });
  const uses = startKeyUses(db, { onFailure: (error) => expect(error).toBeNull() });
  const refuse = async (count: number, at: Date) => {
    for (let i = 0; i < count; i += 1)
      uses.of({ organizationId: scope.organizationId, id }, at).countResponse('getKey', 'limited');
    await uses.flush();
  };
  const at = new Date('2026-11-20T10:59:00Z');
  await refuse(60, at);
  await refuse(40, at);
  await refuse(90, new Date('2026-11-20T11:00:00Z'));
  const limited = async () => (await listNoticesOf(db, id)).filter((kind) => kind === 'limited').length;
  expect(await limited()).toBe(0);
  await refuse(1, at);
  expect(await limited()).toBe(1);
  await refuse(500, new Date('2026-11-20T12:00:00Z'));
  expect(await limited()).toBe(1);
  await refuse(101, new Date('2026-11-21T12:00:00Z'));
  expect(await limited()).toBe(2);
  await uses.stop();
  const hours = await db.prisma.keyUse.findMany({ where: { keyId: id, period: 'hour' }, orderBy: { startsAt: 'asc' } });
  expect(hours.map(({ refused, limited: count }) => [Number(refused), Number(count)])).toEqual([
    [101, 101],
    [90, 90],
    [500, 500],
    [101, 101],
  ]);
});

/** Creates a key, and functions that use it on a day of the year and count the notices about its new networks. */
async function networkKey() {
  const people = await createPeople(db);
  const { id } = await giveKey(db, people.member);
  const uses = startKeyUses(db, { onFailure: (error) => expect(error).toBeNull() });
  const use = async (networks: string | readonly string[], day: number) => {
    const at = new Date(Date.UTC(2026, 0, day));
    for (const network of [networks].flat()) {
      const recorder = uses.of({ organizationId: people.scope.organizationId, id }, at);
      recorder.noteAcceptance(at);
      recorder.noteClient({ network, client: null }, {}, at);
    }
    await uses.flush();
  };
  const found = async () => (await listNoticesOf(db, id)).filter((kind) => kind === 'new_network').length;
  return { ...people, id, uses, use, found };
}

test('a new network after 30 days of one causes a notice, where the organization wants it', async () => {
  const { administrator, id, uses, use, found } = await networkKey();
  await use('192.0.2.1', 1);
  await use('192.0.2.2', 40);
  expect([await found(), await db.prisma.keyNetwork.count({ where: { keyId: id } })]).toEqual([0, 0]);
  orThrow(await changeNoticeSettings(db, administrator, { endsUnusedAfterDays: null, tellsNewNetworks: true }));
  await use('192.0.2.1', 50);
  await use('192.0.2.1', 65);
  await use('192.0.2.2', 79);
  expect(await found()).toBe(0);
  await use('192.0.2.2', 100);
  // Within the last 30 days, since day 79, only 192.0.2.2 was used.
  await use('2001:db8::/64', 111);
  expect(await found()).toBe(1);
  await use('2001:db8::/64', 112);
  await use('198.51.100.1', 113);
  expect(await found()).toBe(1);
  const details = await db.prisma.keyNotice.findMany({ where: { keyId: id, kind: 'new_network' } });
  expect(details.map(({ detail }) => detail)).toEqual(['2001:db8::/64']);
  // The attack: a program uses a new address for each request, which fills the table.
  for (let i = 0; i < 20; i += 1) await use(`203.0.113.${i}`, 114);
  const lastSeenAt = { gt: new Date(Date.UTC(2026, 0, 84)) };
  expect(await db.prisma.keyNetwork.count({ where: { keyId: id, lastSeenAt } })).toBe(5);
  await uses.stop();
});

test('a new network causes a notice although the program of the key uses it before and after, within the same minute', async () => {
  // The attack: somebody who has found the key sends a single request with it.
  const { administrator, id, uses, use, found } = await networkKey();
  orThrow(await changeNoticeSettings(db, administrator, { endsUnusedAfterDays: null, tellsNewNetworks: true }));
  await use('192.0.2.1', 1);
  await use('192.0.2.1', 30);
  await use(['192.0.2.1', '198.51.100.1', '192.0.2.1'], 40);
  expect(await found()).toBe(1);
  const details = await db.prisma.keyNotice.findMany({ where: { keyId: id, kind: 'new_network' } });
  expect(details.map(({ detail }) => detail)).toEqual(['198.51.100.1']);
  await uses.stop();
});

test('a program whose network changes with each request causes at most one notice a day', async () => {
  const { administrator, id, uses, use, found } = await networkKey();
  orThrow(await changeNoticeSettings(db, administrator, { endsUnusedAfterDays: null, tellsNewNetworks: true }));
  const changing = (from: number) => Array.from({ length: 12 }, (_, i) => `203.0.113.${from + i}`);
  await use(['192.0.2.1', ...changing(0)], 1);
  expect(await db.prisma.keyNetwork.count({ where: { keyId: id } })).toBe(5);
  for (const day of [10, 20, 30, 35]) await use('192.0.2.1', day);
  for (let i = 0; i < 4; i += 1) await use(changing(20 * i), 40);
  expect(await found()).toBe(1);
  await use(changing(100), 41);
  expect(await found()).toBe(1);
  await uses.stop();
});
