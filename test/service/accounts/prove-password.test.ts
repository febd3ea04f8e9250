import type { Actor } from '../../../src/domain/actor.ts';
import { changePassword } from '../../../src/service/accounts/change-password.ts';
import {
  beginSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
} from '../../../src/service/accounts/second-factor.ts';
import { signIn } from '../../../src/service/accounts/sign-in.ts';
import { createAccount, newAuditSource } from '../../support/data/accounts.ts';
import { codeOf, times } from '../../support/data/actors.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { useDatabase } from '../../support/postgres/store.ts';

const { db } = await useDatabase();

const SECRET = 'purple walruses march 17 miles';
const OTHER = 'seven otters juggle 93 lanterns';

/** Every action that asks a signed-in person for the password again, by its name in the audit log. */
const ASKED: Record<string, (actor: Actor, password: string) => Promise<unknown>> = {
  'change the password': (actor, currentPassword) => changePassword(db, actor, { currentPassword, password: OTHER }),
  'set up a second factor': (actor, password) => beginSecondFactor(db, actor, { password }),
  'turn off the second factor': (actor, password) => removeSecondFactor(db, actor, { password }),
  'make recovery codes': (actor, password) => renewRecoveryCodes(db, actor, { password }),
};

const failuresOf = ({ userId }: Actor) =>
  db.prisma.auditEvent.findMany({ where: { action: 'user.password_check_failed', targetUserId: userId } });

test.each(Object.entries(ASKED))(
  'a wrong password to %s leaves one event with user, purpose and address',
  async (to, ask) => {
    // The attack: a stolen session tries passwords, and its owner never learns of it.
    const account = await createAccount(db);
    expect(await codeOf(ask(account, SECRET))).toBe('invalid');
    const { ip, userAgent, requestId } = account.auditSource;
    expect(await failuresOf(account)).toMatchObject([
      { actorUserId: account.userId, targetUserId: account.userId, detail: { to }, ip, userAgent, requestId },
    ]);
  },
);

test('the database does not store the password that was tried', async () => {
  // The attack: read a mistyped password, or one from another site, from the log.
  const account = await createAccount(db);
  for (const ask of Object.values(ASKED)) await codeOf(ask(account, SECRET));
  const { rows: tables } = await db.pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  );
  expect(tables.length).toBeGreaterThan(5);
  for (const { name } of tables) {
    const { rows } = await db.pool.query(`select count(*)::int from ${name} t where t::text like '%walruses%'`);
    expect([name, rows]).toEqual([name, [{ count: 0 }]]);
  }
});

test('a flood of wrong passwords across all forms and the sign-in leaves ten events', async () => {
  // The attack: flood the log until nobody finds anything in it or the disk is full.
  const account = await createAccount(db);
  const asks = Object.values(ASKED);
  const outcomes = await times(60, (i) => codeOf((asks[i % asks.length] ?? (async () => {}))(account, `wrong ${i}`)));
  expect(outcomes.filter((each) => each === 'invalid')).toHaveLength(10);
  expect(outcomes.filter((each) => each === 'rate-limited')).toHaveLength(50);
  await times(20, () => signIn(db, { email: account.email, password: 'wrong', auditSource: account.auditSource }));
  expect(await failuresOf(account)).toHaveLength(10);
  expect(await db.prisma.auditEvent.count({ where: { targetUserId: account.userId } })).toBe(10);
});

test('the right password leaves no such event and resets the count', async () => {
  const account = { ...(await createAccount(db)), auditSource: newAuditSource() };
  for (let round = 0; round < 2; round += 1) {
    const guesses = await times(9, () => codeOf(beginSecondFactor(db, account, { password: 'wrong' })));
    expect(guesses.filter((each) => each === 'invalid')).toHaveLength(9);
    expect(await codeOf(beginSecondFactor(db, account, { password: PASSWORD }))).toBe('done');
  }
  expect(await failuresOf(account)).toHaveLength(18);
});
