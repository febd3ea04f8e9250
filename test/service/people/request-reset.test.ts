import { createOutbox } from '../../../src/service/mail.ts';
import { openLink, requestReset } from '../../../src/service/people/access-links.ts';
import { createAccount, newAuditSource } from '../../support/data/accounts.ts';
import { outcomeOf, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';
import { startSmtp } from '../../support/servers/smtp.ts';

const failures: unknown[] = [];
const publicUrl = 'https://charter.example.org';

const { db } = await useSharedDatabase();
const smtp = await startSmtp();
afterAll(() => smtp.close());
const config = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
const outbox = createOutbox(config, (error) => failures.push(error));

async function ask(email: string, auditSource = newAuditSource(), through = outbox): Promise<unknown> {
  const outcome = await requestReset(db, { email, auditSource }, { outbox: through, publicUrl });
  await through.settle();
  return outcome;
}

test('a reset request mails a link at the configured URL, and every e-mail gets the same response', async () => {
  // The attacks: learning from the response whether an account exists, and changing the link with a Host header.
  const account = await createAccount(db);
  smtp.mails.length = 0;
  for (const email of ['nobody@example.test', 'no e-mail', account.email.toUpperCase()])
    expect(await ask(email)).toEqual({ kind: 'done' });
  expect(failures).toEqual([]);
  expect(smtp.mails).toHaveLength(1);
  const [mail = ''] = smtp.mails;
  expect(mail).toContain(`To: The member <${account.email}>`);
  const token = /https:\/\/charter\.example\.org\/welcome\/([\w-]{43})/.exec(mail)?.[1] ?? '';
  expect(await openLink(db, token)).toMatchObject({ kind: 'password_reset', email: account.email });
  const events = await db.prisma.auditEvent.findMany({ where: { targetUserId: account.userId } });
  expect(events).toMatchObject([{ action: 'user.reset_link_made', actorUserId: null }]);
  expect(JSON.stringify(events)).not.toContain(token);
});

test('repeated requests do not flood a mailbox', async () => {
  // The attack: posting the form a thousand times with another person’s e-mail address.
  const account = await createAccount(db);
  smtp.mails.length = 0;
  const auditSource = newAuditSource();
  const outcomes = await times(10, () => outcomeOf(ask(account.email, auditSource)));
  expect(outcomes.filter((outcome) => outcome === 'rate-limited')).toHaveLength(7);
  expect(smtp.mails).toHaveLength(3);
  await times(20, () => outcomeOf(ask(account.email)));
  expect(smtp.mails.length).toBeLessThanOrEqual(10);
});

test('a reset request does not invalidate an existing link', async () => {
  // The attack: requesting resets to invalidate another person’s invitation.
  const account = await createAccount(db);
  smtp.mails.length = 0;
  await ask(account.email);
  await ask(account.email);
  expect(smtp.mails).toHaveLength(2);
  for (const mail of smtp.mails) {
    const token = /\/welcome\/([\w-]{43})/.exec(mail)?.[1] ?? '';
    expect(await openLink(db, token)).not.toBeNull();
  }
});

test('a deactivated account gets no mail', async () => {
  const account = await createAccount(db);
  await db.prisma.user.updateMany({ where: { id: account.userId }, data: { deactivatedAt: new Date() } });
  smtp.mails.length = 0;
  await ask(account.email);
  expect(smtp.mails).toEqual([]);
});

test('without a mail server the response is the same, and no link is made', async () => {
  const account = await createAccount(db);
  const none = createOutbox(null, (error) => failures.push(error));
  expect(none.canSend).toBe(false);
  expect(await ask(account.email, newAuditSource(), none)).toEqual({ kind: 'done' });
  expect(await db.prisma.accessLink.count({ where: { userId: account.userId } })).toBe(0);
});

test('a mail server that does not respond is reported without the link, and delays no response', async () => {
  const account = await createAccount(db);
  const reports: unknown[] = [];
  const broken = createOutbox({ smtpUrl: 'smtp://127.0.0.1:9', mailFrom: 'a@b.org' }, (error) => reports.push(error));
  expect(await ask(account.email, newAuditSource(), broken)).toEqual({ kind: 'done' });
  expect(String(reports)).toContain('ECONNREFUSED');
  expect(String(reports)).not.toContain('/welcome/');
});
