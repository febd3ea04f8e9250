import { updateNoticeSettings } from '../../src/service/accounts/organization.ts';
import type { IssuedKey } from '../../src/service/keys/issue-key.ts';
import { revokeKeyById } from '../../src/service/operator/keys.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createPeople, giveKey } from '../support/data/actors.ts';
import { KEYRING } from '../support/data/encryption.ts';
import { addresseeOf, checkAll, moveDates, PUBLIC_URL, pathsIn, subjectOf } from '../support/data/key-notices.ts';
import { Client } from '../support/http/client.ts';
import { judgeKeys, type KeyUse, type Span } from '../support/http/linearizability.ts';
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
      await moveDates(db, id, { createdAgo: 200, usedAgo: 1, expiresIn: 7 });
      expected.push(`${member.email} The API key Key ${i} expires soon /profile/api-keys/${id}`);
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
    // In 7 days, or in 6 if a day of UTC has ended meanwhile.
    const subjectWithoutDays = (mail: string) => subjectOf(mail).replace(/ in [67] days$/, ' soon');
    const told = () =>
      smtp.mails.map((mail) => [addresseeOf(mail), subjectWithoutDays(mail), ...pathsIn(mail)].join(' ')).toSorted();
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

const CLIENTS = 8;

test('no process accepts a key after Charter has ended it as unused, while clients begin to use it', async () => {
  const { url: DATABASE_URL } = await useScratchDatabase();
  const db = openDatabase({ url: DATABASE_URL, keyring: KEYRING, poolSize: 4, onIdleError: () => {} });
  const processes = await Promise.all([startCharter({ DATABASE_URL }), startCharter({ DATABASE_URL })]);
  try {
    const { administrator, member, scope } = await createPeople(db);
    orThrow(await updateNoticeSettings(db, administrator, { endsUnusedAfterDays: 30, tellsNewNetworks: false }));
    await db.pool.query(`update organizations set ends_unused_since = '2025-01-01' where id = $1`, [
      scope.organizationId,
    ]);
    const keys: IssuedKey[] = [];
    for (let i = 0; i < 4; i += 1) keys.push(await giveKey(db, member, { lifeDays: null }));
    // As if nothing of the use of these keys had been written yet. In one statement: the processes check keys, too.
    const forget = (ids: readonly string[]) =>
      db.pool.query(
        `update api_keys set last_used_at = '2025-06-01', next_check_at = case when id = any($1) then now() end
         where revoked_at is null`,
        [ids],
      );
    await forget(keys.map(({ id }) => id));
    await until('the last notices', async () => {
      await checkAll(db);
      return (await db.prisma.keyNotice.count({ where: { kind: 'unused' } })) === keys.length;
    });
    await db.pool.query(`update key_notices set created_at = created_at - interval '2 days'`);
    const [uses, ends]: [KeyUse[], Map<string, Span>] = [[], new Map()];
    let isOver = false;
    const call = async (n: number) => {
      for (let i = n; !isOver; i += 1) {
        const { id, key } = keys[i % keys.length] ?? { id: '', key: '' };
        const sent = performance.now();
        const { status } = await new Client(processes[i % 3 === 0 ? 0 : 1]?.url ?? '', key).get('/api/parent_programs');
        uses.push({ key: id, sent, received: performance.now(), status });
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, n) => call(n));
    for (const { id } of keys) {
      const enough = uses.length + 4 * CLIENTS;
      await until('uses of all keys', () => uses.length >= enough);
      const sent = performance.now();
      ends.set(id, { sent, received: Number.POSITIVE_INFINITY });
      await until('the end of a key', async () => {
        await forget([id]);
        await checkAll(db);
        return (await db.prisma.apiKey.findFirstOrThrow({ where: { id } })).revokedAt;
      });
      ends.set(id, { sent, received: performance.now() });
    }
    const enough = uses.length + 4 * CLIENTS;
    await until('uses of ended keys', () => uses.length >= enough);
    isOver = true;
    await Promise.all(clients);
    expect(judgeKeys(uses, ends)).toEqual([]);
    // A busy machine may also refuse a request with 503.
    const statuses = uses.map(({ status }) => status).filter((status) => status !== 503);
    expect(new Set(statuses)).toEqual(new Set([200, 401]));
  } finally {
    await db.close();
    await Promise.all(processes.map(kill));
  }
});
