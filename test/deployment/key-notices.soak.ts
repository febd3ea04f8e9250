// Notices about the ends of keys, with a server that restarts, while PostgreSQL's clock runs ahead and is set back.
import { createPeople, giveKey } from '../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../support/data/integrations.ts';
import { addresseeOf, PUBLIC_URL, pathsIn, subjectOf } from '../support/data/key-notices.ts';
import { withDebianPostgres } from '../support/postgres/debian-postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { type Charter, startCharter } from '../support/processes/charter.ts';
import { createClock } from '../support/processes/clock.ts';
import { kill } from '../support/processes/process.ts';
import { type Smtp, startSmtp } from '../support/servers/smtp.ts';
import { until } from '../support/wait.ts';

const DAY_SECONDS = 86_400;
const KEYS_EACH = 3;

/**
 * `ahead`: by how many days PostgreSQL's clock is ahead in the step. `days`: how many days before the end of the keys the notice
 * of the step is due, or `null` if none is due. The keys expire after 40 days.
 */
const STEPS: readonly { readonly ahead: number; readonly days: number | null; readonly isUsed: boolean }[] = [
  { ahead: 5, days: null, isUsed: true },
  { ahead: 11, days: 30, isUsed: true },
  { ahead: 8, days: null, isUsed: false },
  // No server runs at the time of the notice seven days before the end, so that notice is skipped.
  { ahead: 39.5, days: 1, isUsed: true },
  { ahead: 11, days: null, isUsed: false },
];

test('each notice is mailed once, and none is lost', async () => {
  const clock = await createClock();
  await withDebianPostgres(
    async ({ databaseUrl: DATABASE_URL }) => {
      let server: Charter | undefined;
      const smtp: Smtp = await startSmtp();
      const env = { DATABASE_URL, PUBLIC_URL, SMTP_URL: smtp.url, MAIL_FROM: 'charter@example.org' };
      const start = async () => {
        server = await startCharter(env);
      };
      const end = async () => {
        if (server !== undefined) await kill(server);
      };
      await start();
      const db = connectTo(DATABASE_URL);
      try {
        const told: string[] = [];
        const { member, manager, scope } = await createPeople(db);
        const integration = await giveIntegration(db, manager);
        for (let i = 0; i < KEYS_EACH; i += 1) {
          const own = await giveKey(db, member, { name: `Own ${i}`, lifeDays: 40 });
          told.push(`${member.email} /profile/api-keys/${own.id}`);
          const { id } = await giveIntegrationKey(db, { scope }, integration, { name: `Of the integration ${i}` });
          await db.pool.query('update api_keys set expires_at = $2 where id = $1', [id, own.expiresAt]);
          told.push(`${manager.email} /organization/integrations/${integration.id}/api-keys/${id}`);
        }
        await until('the mails about the creation', () => smtp.mails.length === 2 * KEYS_EACH);
        const sent = () => smtp.mails.map((mail) => `${addresseeOf(mail)} ${pathsIn(mail).join()}`).toSorted();
        for (const { ahead, days, isUsed } of STEPS) {
          await end();
          smtp.mails.length = 0;
          await clock.setAhead(ahead * DAY_SECONDS);
          await until('the clock', async () => {
            const { rows } = await db.pool.query<{ now: Date }>('select clock_timestamp() as now');
            return Math.abs((rows[0]?.now.getTime() ?? 0) - Date.now() - ahead * DAY_SECONDS * 1000) < 60_000;
          });
          if (isUsed) await db.pool.query('update api_keys set last_used_at = now()');
          await start();
          const checked = 'select count(*)::int as due from api_keys where next_check_at <= now()';
          await until('the check', async () => (await db.pool.query(checked)).rows[0]?.due === 0);
          const waiting = 'select count(*)::int as due from key_notices where mail_due_at is not null';
          await until('the mails', async () => (await db.pool.query(waiting)).rows[0]?.due === 0);
          const ids = new Set(smtp.mails.map((mail) => /^Message-ID: (.*)$/m.exec(mail)?.[1]));
          expect({ ahead, notices: ids.size }).toEqual({ ahead, notices: days === null ? 0 : told.length });
          // If the server is killed after a mail was accepted and before that was recorded, the mail is sent again with the same
          // id.
          expect({ ahead, sent: [...new Set(sent())] }).toEqual({ ahead, sent: days === null ? [] : told.toSorted() });
          // A UTC day may have ended since the keys were created.
          for (const mail of smtp.mails)
            expect(subjectOf(mail)).toMatch(days === 1 ? /expires (today|tomorrow)$/ : /expires in 2[89] days$/);
        }
        const stages = await db.prisma.keyNotice.groupBy({
          by: ['kind'],
          _count: true,
          where: { isForAddress: false },
        });
        expect(new Map(stages.map(({ kind, _count }) => [kind, _count]))).toEqual(
          new Map([
            ['created', 2 * KEYS_EACH],
            ['expires', 4 * KEYS_EACH],
          ]),
        );
      } finally {
        await end();
        await db.close();
        smtp.close();
      }
    },
    { env: clock.env },
  ).finally(() => clock.remove());
});
