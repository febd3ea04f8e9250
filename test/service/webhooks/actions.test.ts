import { v7 as newId } from 'uuid';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { Role } from '../../../src/domain/people/role.ts';
import { secretText } from '../../../src/domain/webhooks/webhook-message.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { resendDelivery, sendTestEvent } from '../../../src/service/webhooks/deliveries.ts';
import {
  changeEndpoint,
  createEndpoint,
  disableEndpointByUser,
  enableEndpoint,
  removeEndpoint,
  rotateEndpointSecret,
} from '../../../src/service/webhooks/endpoints.ts';
import { placeOfPreviousWebhookSecret, placeOfWebhookSecret } from '../../../src/store/sql/secrets.ts';
import {
  codeOf,
  createPeople,
  listAuditEventsOf,
  NOBODY,
  outcomeOf,
  type People,
  times,
} from '../../support/data/actors.ts';
import { addEndpoint, TARGETS, writeAttempts, writeEvent } from '../../support/data/webhooks.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const CREATED = 'parent_program.created';
const NEW = { url: 'https://example.org/other', eventTypes: [CREATED], targets: TARGETS };

const endpointOf = (id: string) => db.prisma.webhookEndpoint.findFirst({ where: { id } });
const deliveriesOf = (endpointId: string) => db.prisma.webhookDelivery.findMany({ where: { endpointId } });

test('the secret is returned once, and is stored encrypted, bound to its endpoint', async () => {
  const { administrator, scope } = await createPeople(db);
  const { id, secret } = await addEndpoint(db, administrator);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const place = { organizationId: scope.organizationId, id };
  const stored = (await endpointOf(id))?.secret ?? new Uint8Array();
  expect(secretText(db.keyring.decrypt(stored, placeOfWebhookSecret(place)))).toBe(secret);
  expect(Buffer.from(stored).includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
  expect(() => db.keyring.decrypt(stored, placeOfWebhookSecret({ ...place, id: NOBODY }))).toThrow();
  expect(JSON.stringify(await listAuditEventsOf(db, administrator))).not.toContain(secret.slice(6, 30));
});

test('after a rotation both secrets are kept for 24 hours, and a second rotation drops the first secret', async () => {
  const { administrator, scope } = await createPeople(db);
  const first = await addEndpoint(db, administrator);
  const { id: endpointId } = first;
  const now = new Date('2026-05-04T12:00:00.000Z');
  const second = orThrow(await rotateEndpointSecret(db, administrator, { endpointId, now }));
  const third = orThrow(await rotateEndpointSecret(db, administrator, { endpointId, now }));
  expect(new Set([first.secret, second.secret, third.secret]).size).toBe(3);
  const row = await endpointOf(endpointId);
  const place = { organizationId: scope.organizationId, id: endpointId };
  const current = db.keyring.decrypt(row?.secret ?? new Uint8Array(), placeOfWebhookSecret(place));
  const previous = db.keyring.decrypt(row?.previousSecret ?? new Uint8Array(), placeOfPreviousWebhookSecret(place));
  expect([current, previous].map(secretText)).toEqual([third.secret, second.secret]);
  expect(row?.previousSecretUntil).toEqual(new Date('2026-05-05T12:00:00.000Z'));
  expect(third.previousUntil).toEqual(row?.previousSecretUntil);
});

test('an organization has at most ten endpoints, however many are added at the same time', async () => {
  const { administrator, other } = await createPeople(db);
  const outcomes = await times(15, (i) =>
    codeOf(createEndpoint(db, i % 2 === 0 ? administrator : other, { ...NEW, url: `https://example.org/${i}` })),
  );
  expect(outcomes.filter((each) => each === 'done')).toHaveLength(10);
  expect(outcomes.filter((each) => each === 'conflict')).toHaveLength(5);
});

test('every mistake is told at once, and a form that was sent is not sent again', async () => {
  const { administrator } = await createPeople(db);
  const wrong = { url: 'http://example.org', eventTypes: [], targets: TARGETS };
  expect(await createEndpoint(db, administrator, wrong)).toMatchObject({
    kind: 'invalid',
    fields: { url: [expect.any(String)], event_types: [expect.any(String)] },
  });
  const form = { ...NEW, formId: crypto.randomUUID() };
  const outcomes = await times(5, () => codeOf(createEndpoint(db, administrator, form)));
  expect(outcomes.toSorted()).toEqual([...Array.from({ length: 4 }, () => 'already-sent'), 'done']);
});

const ACTIONS: Record<string, (actor: Actor, ids: { endpointId: string; messageId: string }) => Promise<unknown>> = {
  'webhook.created': (actor) => createEndpoint(db, actor, NEW),
  'webhook.changed': (actor, ids) => changeEndpoint(db, actor, { ...ids, ...NEW }),
  'webhook.secret_rotated': (actor, ids) => rotateEndpointSecret(db, actor, ids),
  'webhook.resent': (actor, ids) => resendDelivery(db, actor, ids),
  'webhook.test_sent': (actor, ids) => sendTestEvent(db, actor, ids),
  'webhook.disabled': (actor, ids) => disableEndpointByUser(db, actor, ids),
  'webhook.enabled': (actor, ids) => enableEndpoint(db, actor, ids),
  'webhook.deleted': (actor, ids) => removeEndpoint(db, actor, ids),
};

async function deliveredEndpoint(people: People) {
  const { id: endpointId } = await addEndpoint(db, people.administrator);
  const { organizationId } = people.scope;
  const messageId = await writeEvent(db, people.scope);
  await writeAttempts(db, { organizationId, endpointId, messageId }, [{ status: 500 }], 'failed');
  return { endpointId, messageId };
}

const rowsOf = async ({ scope: { organizationId } }: People) =>
  JSON.stringify([
    await db.prisma.webhookEndpoint.findMany({ where: { organizationId } }),
    await db.prisma.webhookDelivery.findMany({ where: { organizationId }, orderBy: { messageId: 'asc' } }),
  ]);

// The attack: sending a form that was opened by somebody who may only read, or was an administrator until now.
test.each<Role>(['manager', 'member', 'viewer'])('a %s changes nothing and sends nothing', async (role) => {
  const people = await createPeople(db);
  const ids = await deliveredEndpoint(people);
  const before = await rowsOf(people);
  for (const [name, action] of Object.entries(ACTIONS)) {
    const late = { ...people[role], role: 'administrator' } as const;
    expect([name, await codeOf(action(late, ids))]).toEqual([name, 'forbidden']);
  }
  expect(await rowsOf(people)).toBe(before);
  expect(await listAuditEventsOf(db, people)).toHaveLength(1);
});

test('each action leaves one event with its actor and its endpoint', async () => {
  const people = await createPeople(db);
  const { administrator } = people;
  const ids = await deliveredEndpoint(people);
  for (const action of Object.values(ACTIONS)) expect(await codeOf(action(administrator, ids))).toBe('done');
  const [, ...events] = await listAuditEventsOf(db, people);
  expect(events.map(({ action }) => action)).toEqual(Object.keys(ACTIONS));
  for (const event of events.slice(1))
    expect(event).toMatchObject({
      actorUserId: administrator.userId,
      ...administrator.auditSource,
      detail: { url: NEW.url, endpoint: ids.endpointId },
    });
  expect(events[1]?.detail).toMatchObject({
    'former url': 'https://example.org/webhooks',
    events: 'parent_program.created, parent_program.updated, parent_program.deleted -> parent_program.created',
  });
});

// The attack: filling the disk, so that actions go unrecorded.
test.each(Object.keys(ACTIONS).filter((name) => name !== 'webhook.deleted'))(
  '%s fails when its event cannot be written',
  async (name) => {
    const people = await createPeople(db);
    const ids = await deliveredEndpoint(people);
    if (name === 'webhook.enabled') orThrow(await disableEndpointByUser(db, people.administrator, ids));
    const before = await rowsOf(people);
    const { organizationId } = people.scope;
    await db.pool.query(
      `alter table audit_events add constraint no_space check (organization_id <> '${organizationId}') not valid`,
    );
    try {
      await expect(ACTIONS[name]?.(people.administrator, ids)).rejects.toThrow();
    } finally {
      await db.pool.query('alter table audit_events drop constraint no_space');
    }
    expect(await rowsOf(people)).toBe(before);
  },
);

test('an action that changes nothing leaves no event', async () => {
  const people = await createPeople(db);
  const { administrator } = people;
  const { id: endpointId, url } = await addEndpoint(db, administrator, { eventTypes: [CREATED] });
  const same = { endpointId, url: ` ${url} `, eventTypes: [CREATED, CREATED], targets: TARGETS };
  expect(await codeOf(changeEndpoint(db, administrator, same))).toBe('done');
  expect(await codeOf(enableEndpoint(db, administrator, { endpointId }))).toBe('conflict');
  orThrow(await disableEndpointByUser(db, administrator, { endpointId }));
  expect(await codeOf(disableEndpointByUser(db, administrator, { endpointId }))).toBe('conflict');
  expect((await listAuditEventsOf(db, people)).map(({ action }) => action)).toEqual([
    'webhook.created',
    'webhook.disabled',
  ]);
});

test('a disabled endpoint keeps its pending deliveries and gets no new ones until it is enabled', async () => {
  const people = await createPeople(db);
  const { id: endpointId } = await addEndpoint(db, people.administrator);
  const first = await writeEvent(db, people.scope);
  orThrow(await disableEndpointByUser(db, people.administrator, { endpointId }));
  await writeEvent(db, people.scope);
  await db.prisma.webhookEndpoint.updateMany({ where: { id: endpointId }, data: { failingSince: new Date() } });
  orThrow(await enableEndpoint(db, people.administrator, { endpointId }));
  expect(await endpointOf(endpointId)).toMatchObject({ disabledAt: null, disabledReason: null, failingSince: null });
  const third = await writeEvent(db, people.scope);
  const deliveries = await deliveriesOf(endpointId);
  expect(deliveries.map(({ messageId }) => messageId).toSorted()).toEqual([first, third].toSorted());
});

test('another URL ends the count of failing days, and other events alone do not', async () => {
  const { administrator } = await createPeople(db);
  const { id: endpointId, url } = await addEndpoint(db, administrator);
  const failingSince = new Date('2026-05-01T12:00:00.000Z');
  await db.prisma.webhookEndpoint.updateMany({ where: { id: endpointId }, data: { failingSince } });
  orThrow(await changeEndpoint(db, administrator, { ...NEW, endpointId, url }));
  expect(await endpointOf(endpointId)).toMatchObject({ failingSince, eventTypes: [CREATED] });
  orThrow(await changeEndpoint(db, administrator, { ...NEW, endpointId }));
  expect(await endpointOf(endpointId)).toMatchObject({ failingSince: null, url: NEW.url });
});

test('a resent delivery is due now and counts its failures anew, and its attempts go on', async () => {
  const people = await createPeople(db);
  const ids = await deliveredEndpoint(people);
  orThrow(await resendDelivery(db, people.administrator, ids));
  const [delivery] = await deliveriesOf(ids.endpointId);
  expect(delivery).toMatchObject({ state: 'pending', failures: 0, attempts: 1 });
  const { rows } = await db.pool.query(
    'select next_attempt_at <= now() as due from webhook_deliveries where message_id = $1',
    [ids.messageId],
  );
  expect(rows).toEqual([{ due: true }]);
});

test('a delivery whose attempt is under way is not resent, because it would be sent twice', async () => {
  const people = await createPeople(db);
  const ids = await deliveredEndpoint(people);
  const begin = (nextAttemptAt: Date) =>
    db.prisma.webhookDelivery.updateMany({
      where: { messageId: ids.messageId },
      data: { state: 'pending', attempts: 2, nextAttemptAt },
    });
  await begin(new Date(Date.now() + 30_000));
  expect(await outcomeOf(resendDelivery(db, people.administrator, ids))).toMatch(/^conflict: An attempt .* under way/);
  // The process that began the attempt was killed, and the attempt's lease has expired.
  await begin(new Date(Date.now() - 1000));
  expect(await codeOf(resendDelivery(db, people.administrator, ids))).toBe('done');
});

test('a test event is a delivery to its endpoint alone, and not an event of the feed', async () => {
  const { administrator, scope } = await createPeople(db);
  const [one, two] = [await addEndpoint(db, administrator), await addEndpoint(db, administrator)];
  const { messageId } = orThrow(await sendTestEvent(db, administrator, { endpointId: one.id }));
  expect(await deliveriesOf(one.id)).toMatchObject([{ messageId, isTest: true, state: 'pending', attempts: 0 }]);
  expect(await deliveriesOf(two.id)).toEqual([]);
  expect(await db.prisma.event.count({ where: { organizationId: scope.organizationId } })).toBe(0);
});

// The attack: a script presses the button to flood a receiver.
test('an endpoint gets at most ten test events within a minute, however many are sent at the same time', async () => {
  const { administrator } = await createPeople(db);
  const [one, two] = [await addEndpoint(db, administrator), await addEndpoint(db, administrator)];
  const now = new Date();
  const send = (endpointId: string, at = now) => outcomeOf(sendTestEvent(db, administrator, { endpointId, now: at }));
  const outcomes = await times(12, () => send(one.id));
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(10);
  expect(outcomes.filter((outcome) => /^conflict: .* Wait a minute/.test(outcome))).toHaveLength(2);
  expect(await deliveriesOf(one.id)).toHaveLength(10);
  expect(await send(two.id)).toBe('done');
  expect(await send(one.id, new Date(Date.now() + 60_010))).toBe('done');
});

test('an endpoint is deleted with thousands of deliveries, and a change that is made meanwhile succeeds', async () => {
  const people = await createPeople(db);
  const { organizationId } = people.scope;
  const ids = await deliveredEndpoint(people);
  await db.pool.query(
    `insert into webhook_deliveries (organization_id, endpoint_id, message_id)
     select $1, $2, gen_random_uuid() from generate_series(1, 12000)`,
    [organizationId, ids.endpointId],
  );
  const changes = times(20, () =>
    db.prisma.parentProgram.create({ data: { organizationId, id: newId(), name: 'During' } }),
  );
  orThrow(await removeEndpoint(db, people.administrator, ids));
  expect(await changes).toHaveLength(20);
  expect([await endpointOf(ids.endpointId), await deliveriesOf(ids.endpointId)]).toEqual([null, []]);
  expect(await db.prisma.webhookAttempt.count({ where: { organizationId } })).toBe(0);
});
