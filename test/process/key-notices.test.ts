import { revokeKeyById } from '../../src/service/operator.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createPeople, giveKey } from '../support/data/actors.ts';
import { KEYRING } from '../support/data/encryption.ts';
import { addresseeOf, moveDates, PUBLIC_URL, pathsIn, subjectOf } from '../support/data/key-notices.ts';
import { startSmtp } from '../support/http/smtp.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import { type Charter, endCharter, startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const KEYS = 24;

test('two processes that are killed while they send, and start again, mail each notice once, and lose none', async () => {
  const { url: DATABASE_URL } = await useScratchDatabase();
  const db = openDatabase({ url: DATABASE_URL, keyring: KEYRING, poolSize: 2, onIdleError: () => {} });
  const smtp = await startSmtp({ isSlow: true });
  const env = { DATABASE_URL, PUBLIC_URL, SMTP_URL: smtp.url, MAIL_FROM: 'charter@example.org' };
  let processes: Charter[] = [];
  const start = async () => {
    processes = await Promise.all([startCharter(env), startCharter(env)]);
  };
  try {
    const expected: string[] = [];
    const people = [await createPeople(db), await createPeople(db), await createPeople(db)];
    for (let i = 0; i < KEYS; i += 1) {
      const { member } = people[i % people.length] ?? people[0] ?? (await createPeople(db));
      const { id } = await giveKey(db, member, { name: `Key ${i}` });
      await moveDates(db, id, { createdAgo: 200, usedAgo: 1, expiresIn: 6.9 });
      expected.push(`${member.email} The API key Key ${i} expires in 7 days /profile/api-keys/${id}`);
    }
    // The mails about their creation are not of interest.
    await db.pool.query('update key_notices set mail_due_at = null');
    await start();
    await until('notices of all keys, and a mail in transit', async () => {
      const count = await db.prisma.keyNotice.count({ where: { kind: 'expires' } });
      return count === KEYS && smtp.isAsked();
    });
    for (const { child } of processes) child.kill('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    expect(smtp.mails).toEqual([]);
    smtp.greet();
    // The claims of the killed processes run out after five minutes.
    await db.pool.query('update key_notices set mail_due_at = now() where mail_due_at is not null');
    await db.pool.query('update api_keys set next_check_at = default');
    await start();
    const told = () =>
      smtp.mails.map((mail) => [addresseeOf(mail), subjectOf(mail), ...pathsIn(mail)].join(' ')).toSorted();
    await until('all mails', () => smtp.mails.length >= KEYS);
    for (const charter of processes) await endCharter(charter);
    await db.pool.query('update api_keys set next_check_at = default');
    await start();
    const last = await db.prisma.apiKey.findFirstOrThrow({ where: { name: 'Key 0' }, include: { user: true } });
    await revokeKeyById(db, last.id);
    await until('a later mail', () => told().some((mail) => mail.includes('revoked')));
    expected.push(`${last.user.email} An operator revoked the API key Key 0 /profile/api-keys/${last.id}`);
    expect(told()).toEqual(expected.toSorted());
    const due = 'select count(*)::int as due from api_keys where next_check_at <= now() and revoked_at is null';
    await until('a check of all keys', async () => (await db.pool.query(due)).rows[0]?.due === 0);
    expect(await db.prisma.keyNotice.count({ where: { kind: 'expires' } })).toBe(KEYS);
  } finally {
    await Promise.all(processes.map(kill));
    await db.close();
    smtp.close();
  }
});
