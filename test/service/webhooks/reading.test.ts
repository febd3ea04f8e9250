import type { Role } from '../../../src/domain/people/role.ts';
import { PERMISSIONS } from '../../../src/domain/people/role.ts';
import { parseJson } from '../../../src/domain/resources/json.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { getEvent } from '../../../src/service/resources/events.ts';
import { getDelivery, listDeliveries, sendTestEvent } from '../../../src/service/webhooks/deliveries.ts';
import { getEndpoint, listEndpoints } from '../../../src/service/webhooks/endpoints.ts';
import { codeOf, createPeople, type People } from '../../support/data/actors.ts';
import { addEndpoint, countDay, writeAttempts, writeEvent } from '../../support/data/webhooks.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

async function delivered(people: People) {
  const { id: endpointId } = await addEndpoint(db, people.administrator);
  const messageId = await writeEvent(db, people.scope);
  const ids = { organizationId: people.scope.organizationId, endpointId, messageId };
  await writeAttempts(db, ids, [
    { status: null, error: 'The receiver did not respond within 15 seconds.' },
    { status: 200, body: Uint8Array.from(Buffer.from('thank you')) },
  ]);
  return { endpointId, messageId };
}

test.each<[Role, string]>([
  ['administrator', 'done'],
  ['manager', 'done'],
  ['member', 'forbidden'],
  ['viewer', 'forbidden'],
])('a %s who reads endpoints and deliveries gets: %s', async (role, expected) => {
  const people = await createPeople(db);
  const ids = await delivered(people);
  const actor = people[role];
  const reads = [
    listEndpoints(db, actor),
    getEndpoint(db, actor, ids.endpointId),
    listDeliveries(db, actor, { ...ids, isFailed: false, after: null, before: null }),
    getDelivery(db, actor, ids),
  ];
  for (const read of reads) expect(await codeOf(read)).toBe(expected);
});

test('administrators get what the receiver responded, and managers do not', async () => {
  const people = await createPeople(db);
  const ids = await delivered(people);
  const bodiesFor = async (role: Role) =>
    (await getDelivery(db, people[role], ids)).log.map(({ number, responseBody }) => [
      number,
      responseBody?.toString(),
    ]);
  expect(await bodiesFor('administrator')).toEqual([
    [2, 'thank you'],
    [1, ''],
  ]);
  expect(await bodiesFor('manager')).toEqual([
    [2, undefined],
    [1, undefined],
  ]);
});

test('what was sent is the event as the API returns it; of a test event, the same members', async () => {
  const people = await createPeople(db);
  const ids = await delivered(people);
  expect((await getDelivery(db, people.manager, ids)).body).toBe(
    (await getEvent(db, { scope: people.scope, permissions: PERMISSIONS }, ids.messageId)).json,
  );
  const { messageId } = orThrow(await sendTestEvent(db, people.administrator, ids));
  const { body, createdAt } = await getDelivery(db, people.manager, { ...ids, messageId });
  expect(parseJson(body ?? '')).toEqual({
    id: messageId,
    type: 'webhook.test',
    timestamp: createdAt.toISOString(),
    data: {},
  });
});

test('a delivery without its event is still shown', async () => {
  const people = await createPeople(db);
  const ids = await delivered(people);
  await db.prisma.event.deleteMany({ where: { id: ids.messageId } });
  expect(await getDelivery(db, people.manager, ids)).toMatchObject({ body: null, eventType: null, state: 'succeeded' });
});

test('deliveries are paged, the latest first, in both directions', async () => {
  const people = await createPeople(db);
  const { id: endpointId } = await addEndpoint(db, people.administrator);
  const ids: string[] = [];
  for (let i = 0; i < 60; i += 1) ids.unshift(await writeEvent(db, people.scope));
  const read = async (after: string | null, before: string | null) => {
    const { deliveries, ...rest } = await listDeliveries(db, people.manager, {
      endpointId,
      isFailed: false,
      after,
      before,
    });
    return { shown: deliveries.map(({ messageId }) => messageId), ...rest };
  };
  const first = await read(null, null);
  const second = await read(first.next, null);
  const third = await read(second.next, null);
  expect([...first.shown, ...second.shown, ...third.shown]).toEqual(ids);
  expect([first.previous, third.next]).toEqual([null, null]);
  expect((await read(null, third.previous)).shown).toEqual(second.shown);
  expect((await read('x', "'")).shown).toEqual(first.shown);
});

test('an endpoint has its days, its pending deliveries and who added it', async () => {
  const people = await createPeople(db);
  const { endpointId } = await delivered(people);
  await writeEvent(db, people.scope);
  const now = new Date('2026-05-04T23:59:59.000Z');
  const place = { organizationId: people.scope.organizationId, endpointId };
  await countDay(db, place, { now, succeeded: 5 });
  await countDay(db, place, { now, daysAgo: 2, succeeded: 1, failed: 7 });
  expect(await getEndpoint(db, people.manager, endpointId)).toMatchObject({
    url: 'https://example.org/webhooks',
    pending: 1,
    createdBy: 'The administrator',
    days: [
      { startsAt: new Date('2026-05-02T00:00:00.000Z'), succeeded: 1, failed: 7 },
      { startsAt: new Date('2026-05-04T00:00:00.000Z'), succeeded: 5, failed: 0 },
    ],
  });
});
