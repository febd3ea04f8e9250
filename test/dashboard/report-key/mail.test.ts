import { orThrow } from '../../../src/service/outcome.ts';
import { deactivateUser } from '../../../src/service/people/change-user.ts';
import { browserOf, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { reportAsProgram } from '../../support/dashboard/reports.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../../support/data/integrations.ts';
import { startSmtp } from '../../support/servers/smtp.ts';

const PUBLIC_URL = 'http://charter.example.org';
const smtp = await startSmtp();
afterAll(() => smtp.close());
const mail = { smtpUrl: smtp.url, mailFrom: 'Charter <charter@example.org>' };
const dashboard = await useDashboard({ publicUrl: PUBLIC_URL, mail });
const { db } = dashboard;
afterEach(() => {
  smtp.mails.length = 0;
});

async function mailsOf(keys: readonly string[]): Promise<string[]> {
  smtp.mails.length = 0;
  expect((await reportAsProgram(dashboard.url, { keys })).status).toBe(200);
  await dashboard.outbox.settle();
  return smtp.mails.toSorted();
}

const addresseeOf = (text: string) => /^To: .*<(.+)>/m.exec(text)?.[1];
const linksIn = (text: string) =>
  [...text.matchAll(/http:\/\/charter\.example\.org(\/\S+)/g)].map(([, path = '']) => path);

test('the holder and the administrators get a mail with a link to the key’s page, which each of them can open', async () => {
  const { member, administrator, other, manager } = await createPeople(db);
  const { id, key, name } = await giveKey(db, member);
  const mails = await mailsOf([key]);
  const actors = new Map([member, administrator, other].map((actor) => [actor.email, actor]));
  expect(mails.map(addresseeOf).toSorted()).toEqual([...actors.keys()].toSorted());
  expect(mails.map(addresseeOf)).not.toContain(manager.email);
  for (const text of mails) {
    expect(text.replaceAll('=5F', '_')).toContain(`Subject: The API key ${key.slice(0, 17)} was reported as leaked`);
    expect(text).toContain(name);
    expect(text).not.toContain(key.slice(0, 24));
    const reader = actors.get(addresseeOf(text) ?? '');
    const [path = ''] = linksIn(text);
    expect(path).toContain(id);
    expect(reader).toBeDefined();
    if (reader !== undefined) expect((await (await browserOf(dashboard, reader)).get(path)).status).toBe(200);
  }
  expect(dashboard.logged.filter((line) => line.includes('could not send'))).toEqual([]);
});

test('each person gets one mail about all keys that concern them, and nobody learns of another organization’s', async () => {
  const [ours, theirs] = [await createPeople(db), await createPeople(db)];
  const keys = [
    await giveKey(db, ours.member, { name: 'Ours, first' }),
    await giveKey(db, ours.administrator, { name: 'Ours, second' }),
    await giveKey(db, theirs.member, { name: 'Theirs' }),
  ];
  const mails = await mailsOf(keys.map(({ key }) => key));
  const namesTold = Object.fromEntries(
    mails.map((text) => [
      addresseeOf(text),
      ['Ours, first', 'Ours, second', 'Theirs'].filter((name) => text.includes(name)),
    ]),
  );
  expect(mails).toHaveLength(6);
  expect(namesTold).toEqual({
    [ours.member.email]: ['Ours, first'],
    [ours.administrator.email]: ['Ours, first', 'Ours, second'],
    [ours.other.email]: ['Ours, first', 'Ours, second'],
    [theirs.member.email]: ['Theirs'],
    [theirs.administrator.email]: ['Theirs'],
    [theirs.other.email]: ['Theirs'],
  });
});

test('the owner of an integration and its address for notices get a mail about its key', async () => {
  const { member, administrator, other, scope } = await createPeople(db);
  const integration = await giveIntegration(db, member, { name: 'Nightly sync' });
  await db.prisma.user.updateMany({ where: { id: integration.id }, data: { noticeEmail: 'team@example.test' } });
  const { id, key } = await giveIntegrationKey(db, { scope }, integration);
  const mails = await mailsOf([key]);
  expect(mails.map(addresseeOf).toSorted()).toEqual(
    [member.email, administrator.email, other.email, 'team@example.test'].toSorted(),
  );
  for (const text of mails) {
    // The mail names the integration, because an administrator can have many integrations.
    expect(text).toMatch(/\) of Nightly sync\r?$/m);
    const [path = ''] = linksIn(text);
    expect(path).toContain(id);
    for (const reader of [member, administrator])
      expect((await (await browserOf(dashboard, reader)).get(path)).status).toBe(200);
  }
  const { key: second } = await giveIntegrationKey(db, { scope }, integration);
  await db.prisma.user.updateMany({ where: { id: integration.id }, data: { noticeEmail: member.email } });
  expect((await mailsOf([second])).map(addresseeOf).filter((email) => email === member.email)).toHaveLength(1);
});

test('a key that has ended or does not exist causes no mail, and a deactivated user gets none', async () => {
  const { member, administrator, other } = await createPeople(db);
  const { key } = await giveKey(db, administrator);
  const ended = await giveKey(db, member);
  orThrow(await deactivateUser(db, administrator, { userId: member.userId }));
  expect(await mailsOf([ended.key])).toEqual([]);
  orThrow(await deactivateUser(db, administrator, { userId: other.userId }));
  expect((await mailsOf([key])).map(addresseeOf)).toEqual([administrator.email]);
  expect(await mailsOf([key])).toEqual([]);
});
