import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { moveKey } from '../../../src/service/keys/move-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { createOutbox } from '../../../src/service/mail.ts';
import { revokeKeyById } from '../../../src/service/operator/keys.ts';
import { changeNoticeSettings } from '../../../src/service/organizations/policy.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { deactivateUser } from '../../../src/service/people/change-user.ts';
import { MAIL_ATTEMPTS } from '../../../src/store/keys/key-notices.ts';
import { codeOf, createPeople, giveKey, listAuditEventsOf, outcomeOf, READ, times } from '../../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../../support/data/integrations.ts';
import {
  addresseeOf,
  listNoticesOf,
  mailAll,
  moveDates,
  moveNotices,
  pathsIn,
  subjectOf,
  writeAllNotices,
} from '../../support/data/key-notices.ts';
import { callerWith } from '../../support/data/key-uses.ts';
import { useDatabase } from '../../support/postgres/store.ts';
import { freePort } from '../../support/servers/port.ts';
import { startSmtp } from '../../support/servers/smtp.ts';

const { db } = await useDatabase();
const smtp = await startSmtp();
afterAll(() => smtp.close());
const mailFrom = 'Charter <charter@example.org>';
const outbox = createOutbox({ smtpUrl: smtp.url, mailFrom }, () => {});

/** Sends the mails that are due now, and returns them. */
async function mails(): Promise<string[]> {
  smtp.mails.length = 0;
  expect(await mailAll(db, outbox)).toEqual([]);
  return smtp.mails.toSorted();
}

/** Creates a key of a new member. The mail about the key's creation has been sent already. */
async function usedKey(dates: Parameters<typeof moveDates>[2]) {
  const people = await createPeople(db);
  const key = await giveKey(db, people.member, { name: 'Nightly import' });
  await mails();
  await moveDates(db, key.id, { createdAgo: 200, usedAgo: 0, ...dates });
  return { ...people, key };
}

/** Returns the notices of the key except the notice of its creation. */
const endsOf = async (id: string) => (await listNoticesOf(db, id)).filter((each) => each !== 'created');

test.each([
  [31, []],
  [29.9, ['expires 30']],
  [7.1, ['expires 30']],
  [6.9, ['expires 7']],
  [1.1, ['expires 7']],
  [0.9, ['expires 1']],
  [-0.1, []],
])('a key that expires in %p days causes the notices %p', async (expiresIn, notices) => {
  const { key } = await usedKey({ expiresIn });
  expect(await writeAllNotices(db)).toEqual([]);
  expect(await endsOf(key.id)).toEqual(notices);
});

test.each([
  ['was never used', { usedAgo: null, expiresIn: 6 }],
  ['was last used 31 days ago', { usedAgo: 31, expiresIn: 6 }],
  ['does not expire', { expiresIn: null }],
  ['was made for six days and some hours, and expires in six', { createdAgo: 0.2, expiresIn: 6 }],
])('a key that %s causes no notice', async (_, dates) => {
  const { key } = await usedKey(dates);
  await writeAllNotices(db);
  expect(await endsOf(key.id)).toEqual([]);
});

test('a holder gets one mail for each notice, with the day and a link to the key’s page, and nothing of the key', async () => {
  const { key, member } = await usedKey({ expiresIn: 7 });
  await writeAllNotices(db);
  const [mail = '', ...others] = await mails();
  expect(others).toEqual([]);
  expect(addresseeOf(mail)).toBe(member.email);
  expect(subjectOf(mail)).toBe('The API key Nightly import expires in 7 days');
  expect(pathsIn(mail)).toEqual([`/profile/api-keys/${key.id}`]);
  expect(mail).not.toContain(key.key.slice(0, 24));
  for (let i = 0; i < 3; i += 1) {
    await db.pool.query('update api_keys set next_check_at = default');
    await times(2, () => writeAllNotices(db));
    expect(await mails()).toEqual([]);
  }
  expect(await endsOf(key.id)).toEqual(['expires 7']);
});

test('a later stage follows an earlier one, also after a move of the expiry, and each is mailed once', async () => {
  const { key } = await usedKey({ expiresIn: 29 });
  for (const [expiresIn, subject] of [
    [29, 'expires in 29 days'],
    [6, 'expires in 6 days'],
    [1, 'expires tomorrow'],
  ] as const) {
    await moveDates(db, key.id, { expiresIn });
    await writeAllNotices(db);
    expect((await mails()).map(subjectOf)).toEqual([`The API key Nightly import ${subject}`]);
  }
});

test('the next check of a key comes with its next notice, so that all other keys cost nothing', async () => {
  const { key } = await usedKey({ expiresIn: 100 });
  await writeAllNotices(db);
  const nextIn = async () => {
    const { nextCheckAt } = await db.prisma.apiKey.findFirstOrThrow({ where: { id: key.id } });
    return nextCheckAt === null ? null : Math.round((nextCheckAt.getTime() - Date.now()) / 86_400_000);
  };
  expect(await nextIn()).toBe(70);
  for (const [expiresIn, next] of [
    [29, 22],
    [7, 6],
    [0.5, null],
    [-1, null],
    [null, null],
  ] as const) {
    await moveDates(db, key.id, { expiresIn });
    await writeAllNotices(db);
    expect(await nextIn()).toBe(next);
  }
});

test('the owner of an integration and its address for notices get a mail with a link that the owner can open', async () => {
  const { member, scope } = await createPeople(db);
  const integration = await giveIntegration(db, member, { name: 'Nightly sync' });
  await db.prisma.user.updateMany({ where: { id: integration.id }, data: { noticeEmail: 'team@example.test' } });
  const { id } = await giveIntegrationKey(db, { scope }, integration);
  await mails();
  await moveDates(db, id, { createdAgo: 100, usedAgo: 1, expiresIn: 6 });
  await writeAllNotices(db);
  const sent = await mails();
  expect(sent.map(addresseeOf).toSorted()).toEqual([member.email, 'team@example.test'].toSorted());
  for (const mail of sent)
    expect(pathsIn(mail)).toEqual([`/organization/integrations/${integration.id}/api-keys/${id}`]);
  // Charter does not know the name of the team that gets the mail, so the greeting has no name.
  const greetings = sent.map((mail) => [addresseeOf(mail), /^Hello.*,/m.exec(mail)?.[0]]);
  expect(Object.fromEntries(greetings)).toEqual({
    [member.email]: `Hello ${member.name},`,
    'team@example.test': 'Hello,',
  });
  await db.prisma.user.updateMany({ where: { id: integration.id }, data: { noticeEmail: member.email } });
  await moveDates(db, id, { expiresIn: 0.5 });
  await writeAllNotices(db);
  expect((await mails()).map(addresseeOf)).toEqual([member.email]);
});

test('the mail for an integration that has neither an active owner nor an address goes to an administrator', async () => {
  const { administrator, member, scope } = await createPeople(db);
  const integration = await giveIntegration(db, member, { name: 'Nightly sync' });
  const { id } = await giveIntegrationKey(db, { scope }, integration);
  await mails();
  await moveDates(db, id, { createdAgo: 100, usedAgo: 1, expiresIn: 6 });
  await db.prisma.user.updateMany({ where: { id: member.userId }, data: { deactivatedAt: new Date() } });
  await writeAllNotices(db);
  const [mail = '', ...others] = await mails();
  expect([addresseeOf(mail), others]).toEqual([administrator.email, []]);
  expect(mail).toContain(`Hello ${administrator.name},`);
  expect(mail.replaceAll(/=?\r?\n/g, ' ')).toContain('The integration has no active owner');
  await db.prisma.user.updateMany({ where: { id: integration.id }, data: { noticeEmail: 'team@example.test' } });
  await moveDates(db, id, { expiresIn: 0.5 });
  await writeAllNotices(db);
  expect((await mails()).map(addresseeOf)).toEqual(['team@example.test']);
});

test('no mail follows for a key that was rotated or revoked meanwhile, and none to a deactivated user', async () => {
  const rotated = await usedKey({ expiresIn: 6 });
  const revoked = await usedKey({ expiresIn: 6 });
  const gone = await usedKey({ expiresIn: 6 });
  await writeAllNotices(db);
  const { member } = rotated;
  orThrow(
    await rotateKey(db, member, { keyId: rotated.key.id, userId: member.userId, environment: 'live', lifeDays: 60 }),
  );
  orThrow(await revokeKey(db, revoked.member, { keyId: revoked.key.id, userId: revoked.member.userId }));
  orThrow(await deactivateUser(db, gone.administrator, { userId: gone.member.userId }));
  expect(await mails()).toEqual([]);
});

test('a mail that could not be sent is tried again with the same Message-ID, so many times, and then given up', async () => {
  const { key } = await usedKey({ expiresIn: 6 });
  await writeAllNotices(db);
  const down = createOutbox({ smtpUrl: `smtp://127.0.0.1:${await freePort('127.0.0.1')}`, mailFrom }, () => {});
  // Restores the state of a server that was killed after a mail was accepted and before the server recorded that.
  const forget = () =>
    db.prisma.keyNotice.updateMany({
      where: { keyId: key.id, kind: 'expires', attempts: { lt: MAIL_ATTEMPTS } },
      data: { mailDueAt: new Date(0) },
    });
  expect(await mailAll(db, down)).toHaveLength(1);
  expect(await mails()).toEqual([]);
  const ids: (string | undefined)[] = [];
  for (let i = 1; i < MAIL_ATTEMPTS; i += 1) {
    await forget();
    const [mail = ''] = await mails();
    ids.push(/^Message-ID: (.*)$/m.exec(mail)?.[1]);
  }
  const { id } = await db.prisma.keyNotice.findFirstOrThrow({ where: { keyId: key.id, kind: 'expires' } });
  expect(new Set(ids)).toEqual(new Set([`<${id}@example.org>`]));
  await forget();
  expect(await mails()).toEqual([]);
});

test('the holder gets a mail when somebody else creates, rotates, moves or revokes a key, and none for an own action', async () => {
  const { administrator, member } = await createPeople(db);
  const integration = await giveIntegration(db, administrator);
  await mails();
  const request = {
    userId: member.userId,
    name: 'Theirs',
    permissions: READ,
    lifeDays: 30,
    environment: 'live',
  } as const;
  const sent = async () => (await mails()).map((mail) => [addresseeOf(mail), subjectOf(mail), ...pathsIn(mail)]);
  const { email } = member;
  const created = orThrow(await issueKey(db, administrator, request));
  const page = `/profile/api-keys/${created.id}`;
  expect(await sent()).toEqual([[email, 'The administrator created the API key Theirs', page]]);
  const rotation = { keyId: created.id, userId: member.userId, environment: 'live' } as const;
  const rotated = orThrow(await rotateKey(db, administrator, rotation));
  expect(await sent()).toEqual([
    [email, 'The administrator rotated the API key Theirs', `/profile/api-keys/${rotated.id}`],
  ]);
  const move = { keyId: rotated.id, userId: member.userId, integrationId: integration.id, name: 'Theirs' };
  orThrow(await moveKey(db, administrator, move));
  const moved = `The administrator moved your API key Theirs to ${integration.name}`;
  expect(await sent()).toEqual([[email, moved, '/profile/api-keys']]);
  const second = orThrow(await issueKey(db, member, request));
  expect(await sent()).toEqual([]);
  orThrow(await revokeKey(db, administrator, { keyId: second.id, userId: member.userId }));
  expect(await sent()).toEqual([
    [email, 'The administrator revoked the API key Theirs', `/profile/api-keys/${second.id}`],
  ]);
  const third = orThrow(await issueKey(db, member, request));
  await revokeKeyById(db, third.id);
  expect(await sent()).toEqual([[email, 'An operator revoked the API key Theirs', `/profile/api-keys/${third.id}`]]);
});

test('an action that is refused sends no mail', async () => {
  const { administrator, member } = await createPeople(db);
  const key = await giveKey(db, member);
  await mails();
  const rotation = { keyId: key.id, userId: member.userId, environment: 'live', lifeDays: 3000 } as const;
  expect(await codeOf(rotateKey(db, administrator, rotation))).toBe('invalid');
  expect(await mails()).toEqual([]);
});

const SETTINGS = { endsUnusedAfterDays: 60, tellsNewNetworks: false };

/** Creates a key in an organization that already ends keys after 60 days without use. */
async function unusedKey(dates: Parameters<typeof moveDates>[2]) {
  const found = await usedKey({ expiresIn: null, ...dates });
  orThrow(await changeNoticeSettings(db, found.administrator, SETTINGS));
  const since = "update organizations set ends_unused_since = now() - interval '300 days' where id = $1";
  await db.pool.query(since, [found.scope.organizationId]);
  await moveDates(db, found.key.id, {});
  return found;
}

test.each([
  [{ usedAgo: 29 }, []],
  [{ usedAgo: 31 }, ['unused 30']],
  [{ usedAgo: 54 }, ['unused 7']],
  [{ usedAgo: 59.5 }, ['unused 1']],
  [{ usedAgo: 500 }, ['unused 1']],
  [{ usedAgo: null, createdAgo: 54 }, ['unused 7']],
  [{ usedAgo: 54, expiresIn: 3 }, []],
])('a key with %p causes the notices %p, where keys end after 60 days without a use', async (dates, notices) => {
  const { key } = await unusedKey(dates);
  expect(await writeAllNotices(db)).toEqual([]);
  expect(await endsOf(key.id)).toEqual(notices);
});

test('a key that is not used is ended a day after its last notice, and no sooner, with an audit event and a mail', async () => {
  const { key, member } = await unusedKey({ usedAgo: 500 });
  expect(await writeAllNotices(db)).toEqual([]);
  const [warning = ''] = await mails();
  expect(subjectOf(warning)).toBe('The API key Nightly import ends tomorrow, because it is not used');
  await moveNotices(db, key.id, 0.9);
  expect(await writeAllNotices(db)).toEqual([]);
  expect(await callerWith(db, key.key)).toMatchObject({ keyId: key.id });
  await moveNotices(db, key.id, 0.2);
  expect(await writeAllNotices(db)).toEqual([key.id]);
  expect(await outcomeOf(callerWith(db, key.key))).toContain('was revoked');
  expect((await mails()).map(subjectOf)).toEqual(['The API key Nightly import was ended, because it was not used']);
  expect((await listAuditEventsOf(db, member)).at(-1)).toMatchObject({
    action: 'key.revoked',
    actorUserId: null,
    targetUserId: member.userId,
    keyId: key.id,
    detail: { why: 'not used', days: '60' },
  });
  expect(await writeAllNotices(db)).toEqual([]);
});

// The bug: after the clock of the database was set back to before the expiry, the key ended for another reason.
test('a key that is recorded as expired causes no notice, and is not ended as unused, once the clock is set back', async () => {
  const { key } = await unusedKey({ usedAgo: 500, expiresIn: 40 });
  await writeAllNotices(db);
  await moveNotices(db, key.id, 2);
  const { rowCount } = await db.pool.query('update api_keys set expired_at = expires_at where id = $1', [key.id]);
  expect(rowCount).toBe(1);
  expect(await writeAllNotices(db)).toEqual([]);
  await moveDates(db, key.id, { usedAgo: 1, expiresIn: 6 });
  await db.pool.query('update api_keys set expired_at = expires_at where id = $1', [key.id]);
  await writeAllNotices(db);
  expect(await endsOf(key.id)).toEqual(['unused 1']);
});

test('a use after the last notice keeps the key, even if it is still in the memory of the process that ends keys', async () => {
  const used = async (id: string) => db.prisma.apiKey.updateMany({ where: { id }, data: { lastUsedAt: new Date() } });
  const { key } = await unusedKey({ usedAgo: 500 });
  await writeAllNotices(db);
  await moveNotices(db, key.id, 2);
  expect(await writeAllNotices(db, async () => void (await used(key.id)))).toEqual([]);
  expect(await callerWith(db, key.key)).toMatchObject({ keyId: key.id });
  expect(await mails()).toEqual([]);
});

test('switching it on ends no key within a week, however long it was not used', async () => {
  const { key, administrator } = await usedKey({ usedAgo: 500, expiresIn: null });
  orThrow(await changeNoticeSettings(db, administrator, SETTINGS));
  await writeAllNotices(db);
  expect(await endsOf(key.id)).toEqual(['unused 7']);
  const [mail = ''] = await mails();
  expect(subjectOf(mail)).toBe('The API key Nightly import ends in 7 days, because it is not used');
  orThrow(await changeNoticeSettings(db, administrator, { ...SETTINGS, endsUnusedAfterDays: null }));
  await moveNotices(db, key.id, 30);
  expect(await writeAllNotices(db)).toEqual([]);
  expect(await callerWith(db, key.key)).toMatchObject({ keyId: key.id });
});

test.each(['organization', 'integration'])(
  'no key of a suspended %s is ended, nor sooner than a day after another notice once it is active again',
  async (what) => {
    const { key, member, scope } = await unusedKey({ usedAgo: 500 });
    const integration = await giveIntegration(db, member);
    const move = { keyId: key.id, userId: member.userId, integrationId: integration.id, name: 'Nightly import' };
    orThrow(await moveKey(db, member, move));
    const suspend = (at: Date | null) =>
      what === 'organization'
        ? db.prisma.organization.updateMany({ where: { id: scope.organizationId }, data: { suspendedAt: at } })
        : db.prisma.user.updateMany({ where: { id: integration.id }, data: { deactivatedAt: at } });
    await writeAllNotices(db);
    await suspend(new Date());
    await moveNotices(db, key.id, 3);
    expect(await writeAllNotices(db)).toEqual([]);
    await suspend(null);
    await moveDates(db, key.id, {});
    expect(await writeAllNotices(db)).toEqual([]);
    expect(await callerWith(db, key.key)).toMatchObject({ keyId: key.id });
    expect((await endsOf(key.id)).at(-1)).toBe('unused 1');
    await moveNotices(db, key.id, 2);
    expect(await writeAllNotices(db)).toEqual([key.id]);
  },
);

test('a clock that is set back cancels no mail that is still to be sent', async () => {
  const { key } = await usedKey({ expiresIn: 29 });
  await writeAllNotices(db);
  await mails();
  // Inserts a mail that still has to be sent: the notice of the last day, which the wrong clock caused too early.
  await db.pool.query(
    `insert into key_notices (organization_id, id, key_id, user_id, kind, occasion, is_for_address, ends_at)
     select organization_id, gen_random_uuid(), key_id, user_id, kind, replace(occasion, ', 30', ', 1'), false, ends_at
     from key_notices where key_id = $1 and kind = 'expires'`,
    [key.id],
  );
  await moveDates(db, key.id, {});
  await writeAllNotices(db);
  expect(await mails()).toHaveLength(1);
});

test('while the mail server is down, a turn gives up after a few mails, so that keys are still checked', async () => {
  await mails();
  const people = [await createPeople(db), await createPeople(db)];
  for (const { member } of people) for (let i = 0; i < 8; i += 1) await giveKey(db, member, { name: `Key ${i}` });
  const port = await freePort('127.0.0.1');
  const down = createOutbox({ smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom }, () => {});
  expect(await mailAll(db, down)).toHaveLength(10);
  // On a slow machine, the test may take five minutes, after which the next attempt would begin.
  await db.prisma.keyNotice.updateMany({ data: { mailDueAt: null } });
});

test('only administrators change the settings, within the bounds, and each change is audited', async () => {
  const { administrator, manager } = await createPeople(db);
  expect(await codeOf(changeNoticeSettings(db, manager, SETTINGS))).toBe('forbidden');
  for (const endsUnusedAfterDays of [6, 3651, 7.5, Number.NaN])
    expect(await codeOf(changeNoticeSettings(db, administrator, { ...SETTINGS, endsUnusedAfterDays }))).toBe('invalid');
  orThrow(await changeNoticeSettings(db, administrator, { endsUnusedAfterDays: 7, tellsNewNetworks: true }));
  orThrow(await changeNoticeSettings(db, administrator, { endsUnusedAfterDays: 7, tellsNewNetworks: true }));
  expect(await listAuditEventsOf(db, administrator)).toMatchObject([
    {
      action: 'organization.policy_changed',
      detail: { 'unused keys': 'do not end -> end after 7 days', 'mail about new networks': 'no -> yes' },
    },
  ]);
});
