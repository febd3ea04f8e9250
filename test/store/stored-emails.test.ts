import type pg from 'pg';
import { markInvited, normalizeEmails, normalizeNoticeEmails } from '../../src/store/people/stored-emails.ts';
import { createAccount, givePasskey, linkDirectly } from '../support/data/accounts.ts';
import { createActor, createScope } from '../support/data/actors.ts';
import { useDatabase } from '../support/postgres/store.ts';

const { db } = await useDatabase();

/** Runs the work in a transaction and rolls it back, because other tests share the database. */
async function inTransaction<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    return await work(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

async function withEmail(email: string) {
  const account = await createAccount(db);
  await db.prisma.user.updateMany({ where: { id: account.userId }, data: { email } });
  return account;
}

test('e-mails of an earlier version get their normal form, and one that another account has is reported and stays', async () => {
  const domain = `bücher-${crypto.randomUUID()}.example`;
  const ascii = new URL(`http://${domain}`).hostname;
  const [alone, typed, sent] = [
    await withEmail(`alone@${domain}`),
    await withEmail(`grete@${domain}`),
    await withEmail(`grete@${ascii}`),
  ];
  const invited = await withEmail(`mei@${domain}`);
  await db.prisma.user.updateMany({ where: { id: invited.userId }, data: { passwordHash: null, hasAccepted: false } });
  await withEmail(`mei@${ascii}`);
  const after = await inTransaction(async (client) => {
    const kept = await normalizeEmails(client);
    const text = 'select id, email from users where id = any($1)';
    const { rows } = await client.query(text, [[alone, typed, sent, invited].map(({ userId }) => userId)]);
    return { kept, emails: new Map(rows.map(({ id, email }) => [id, email])), again: await normalizeEmails(client) };
  });
  expect(after.kept).toEqual([{ userId: typed.userId, takenBy: sent.userId }]);
  expect(after.again).toEqual(after.kept);
  expect([alone, typed, sent, invited].map(({ userId }) => after.emails.get(userId))).toEqual([
    `alone@${ascii}`,
    `grete@${domain}`,
    `grete@${ascii}`,
    // The invited user gets the normal form although another user has this address, because an invitation does not reserve an
    // address.
    `mei@${ascii}`,
  ]);
});

test('the addresses of notices get their normal form', async () => {
  const { scope, userId } = await createAccount(db);
  const of = { organizationId: scope.organizationId, id: crypto.randomUUID() };
  const noticeEmail = 'ops@bücher.example';
  await db.prisma.user.create({
    data: { ...of, kind: 'integration', name: 'Import', role: 'viewer', ownerUserId: userId, noticeEmail },
  });
  const emails = await inTransaction(async (client) => {
    await normalizeNoticeEmails(client);
    return (await client.query('select notice_email from users where id = $1', [of.id])).rows;
  });
  expect(emails).toEqual([{ notice_email: 'ops@xn--bcher-kva.example' }]);
});

test('of the people of an earlier version, only those who never had a way to sign in are invited', async () => {
  const scope = await createScope(db);
  const add = () => createActor(db, scope, 'member');
  const [never, linked, withPasskey, former] = [await add(), await add(), await add(), await add()];
  const password = await createAccount(db, { scope });
  await linkDirectly(db, linked);
  await givePasskey(db, withPasskey);
  // This user signed in by a connection that was removed.
  const event = { organizationId: scope.organizationId, id: crypto.randomUUID(), action: 'user.sso_linked' };
  await db.prisma.auditEvent.create({ data: { ...event, targetUserId: former.userId } });
  const invited = await inTransaction(async (client) => {
    await markInvited(client);
    const text = 'select id from users where organization_id = $1 and not has_accepted';
    return (await client.query(text, [scope.organizationId])).rows;
  });
  expect(invited).toEqual([{ id: never.userId }]);
  expect(password.userId).not.toBe(never.userId);
});

test('whoever gets a way to sign in has accepted, whatever server writes it', async () => {
  const scope = await createScope(db);
  const add = async () => {
    const actor = await createActor(db, scope, 'member');
    await db.prisma.user.updateMany({ where: { id: actor.userId }, data: { hasAccepted: false } });
    return actor;
  };
  const [password, linked, withPasskey, never] = [await add(), await add(), await add(), await add()];
  await db.prisma.user.updateMany({ where: { id: password.userId }, data: { passwordHash: 'hash' } });
  await linkDirectly(db, linked);
  await givePasskey(db, withPasskey);
  const rows = await db.prisma.user.findMany({ where: { organizationId: scope.organizationId, hasAccepted: false } });
  expect(rows.map(({ id }) => id)).toEqual([never.userId]);
});

test('whoever is invited by a server of the previous version has not accepted', async () => {
  const scope = await createScope(db);
  const { userId } = await createActor(db, scope, 'member');
  // The previous version does not know the column, whose default is true.
  expect(await db.prisma.user.findFirst({ where: { id: userId } })).toMatchObject({ hasAccepted: true });
  const event = { organizationId: scope.organizationId, id: crypto.randomUUID(), action: 'user.invited' };
  await db.prisma.auditEvent.create({ data: { ...event, targetUserId: userId, detail: { role: 'member' } } });
  expect(await db.prisma.user.findFirst({ where: { id: userId } })).toMatchObject({ hasAccepted: false });
});
