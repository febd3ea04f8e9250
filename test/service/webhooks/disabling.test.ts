import { createOutbox, type Mail, type Outbox } from '../../../src/service/mail.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { disableEndpoint } from '../../../src/service/webhooks/disabling.ts';
import { disableEndpointByUser } from '../../../src/service/webhooks/endpoints.ts';
import { createPeople, type People } from '../../support/data/actors.ts';
import { addEndpoint, withoutMail } from '../../support/data/webhooks.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

/** Returns an outbox that keeps its mails instead of sending them. */
function keepMails(): { outbox: Outbox; mails: Mail[] } {
  const mails: Mail[] = [];
  const outbox = createOutbox(null, (error) => {
    throw error;
  });
  return { mails, outbox: { ...outbox, canSend: true, post: (mail) => void mails.push(mail) } };
}

const SILENT = withoutMail(db);

const eventsOf = ({ scope: { organizationId } }: People) =>
  db.prisma.auditEvent.findMany({ where: { organizationId, action: 'webhook.disabled' } });

test.each([
  ['gone', /410 Gone/],
  ['failing', /last 5 days failed/],
] as const)(
  'an endpoint that is disabled as %s is recorded once, and its active administrators are told why',
  async (reason, why) => {
    const people = await createPeople(db);
    const { administrator, other, scope } = people;
    await db.prisma.user.updateMany({ where: { id: other.userId }, data: { deactivatedAt: new Date() } });
    const { id, url } = await addEndpoint(db, administrator);
    const at = new Date('2026-05-04T12:00:00.000Z');
    const { outbox, mails } = keepMails();
    const deps = { db, outbox, publicUrl: 'https://charter.example.org' };
    expect(await disableEndpoint(deps, scope, { id, url, reason, at })).toBe(true);
    expect(await disableEndpoint(deps, scope, { id, url, reason, at })).toBe(false);
    const row = await db.prisma.webhookEndpoint.findFirst({ where: { id } });
    expect(row).toMatchObject({ disabledAt: at, disabledReason: reason });
    expect(await eventsOf(people)).toMatchObject([
      { actorUserId: null, requestId: '', detail: { url, endpoint: id, reason } },
    ]);
    await outbox.settle();
    expect(mails).toMatchObject([{ to: { address: administrator.email }, subject: 'A webhook endpoint was disabled' }]);
    expect(mails[0]?.text).toMatch(why);
    expect(mails[0]?.text).toContain(`https://charter.example.org/organization/webhooks/${id}`);
    expect(mails[0]?.text).toContain(url);
  },
);

test('without a mail server or a public URL, nothing fails', async () => {
  const { administrator, scope } = await createPeople(db);
  const { outbox, mails } = keepMails();
  for (const deps of [SILENT, { ...SILENT, outbox }]) {
    const { id, url } = await addEndpoint(db, administrator);
    expect(await disableEndpoint(deps, scope, { id, url, reason: 'gone' })).toBe(true);
    await deps.outbox.settle();
  }
  for (const { text } of mails) expect(text).toContain('open Organization, then Webhooks');
  expect(mails).toHaveLength(2);
});

test('an endpoint that a user has disabled stays disabled by the user, and an unknown one is no error', async () => {
  const people = await createPeople(db);
  const { administrator, scope } = people;
  const { id, url } = await addEndpoint(db, administrator);
  orThrow(await disableEndpointByUser(db, administrator, { endpointId: id }));
  for (const each of [id, crypto.randomUUID()])
    expect(await disableEndpoint(SILENT, scope, { id: each, url, reason: 'gone' })).toBe(false);
  expect(await db.prisma.webhookEndpoint.findFirst({ where: { id } })).toMatchObject({ disabledReason: 'user' });
});

test('an endpoint is not disabled because of its former URL', async () => {
  const people = await createPeople(db);
  const { administrator, scope } = people;
  const { id, url } = await addEndpoint(db, administrator);
  const disable = (at: string) => disableEndpoint(SILENT, scope, { id, url: at, reason: 'gone' });
  expect(await disable(`${url}/former`)).toBe(false);
  expect(await db.prisma.webhookEndpoint.findFirst({ where: { id } })).toMatchObject({ disabledAt: null });
  expect(await eventsOf(people)).toEqual([]);
  expect(await disable(url)).toBe(true);
});
