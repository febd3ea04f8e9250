// Under load, the clock of a server, or PostgreSQL's clock, jumps ten minutes ahead and back.
import { OrganizationScope } from '../../src/domain/organizations/organization-scope.ts';
import { rotateKey } from '../../src/service/keys/rotate-key.ts';
import { issueKeyByEmail, revokeKeyById } from '../../src/service/operator/keys.ts';
import { orThrow } from '../../src/service/outcome.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { Client } from '../support/clients/client.ts';
import { Browser } from '../support/dashboard/dashboard.ts';
import { createAccount, PASSWORD } from '../support/data/accounts.ts';
import { insertEndpoint } from '../support/data/deliveries.ts';
import { withDebianPostgres } from '../support/postgres/debian-postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { type Charter, logOf, organizationAt, startCharter } from '../support/processes/charter.ts';
import { createClock } from '../support/processes/clock.ts';
import { kill } from '../support/processes/process.ts';
import { respondsWith, startScriptedServer } from '../support/servers/scripted-server.ts';
import type { TestOrganization } from '../support/servers/server.ts';
import { startIntegrations } from '../support/traffic/integrations.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { length, until } from '../support/wait.ts';

/** The number of writes that must be acknowledged between two jumps. */
const WRITES = length({ full: 20, figures: 1000 });
const JUMP_SECONDS = 600;
/**
 * How far the clock is ahead of the machine's time after each jump, in seconds. The last jump is ahead, so that what waits for a
 * time becomes due.
 */
const JUMPS = [JUMP_SECONDS, 0, -JUMP_SECONDS, 0, JUMP_SECONDS];
const LIST = '/api/parent_programs';
const SERVER = {
  WEBHOOKS_ALLOW_HTTP: 'true',
  WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1',
  // Rate limits that the test does not reach.
  RATE_LIMIT_PER_KEY: '1000',
  RATE_LIMIT_PER_ORGANIZATION: '1000',
  RATE_LIMIT_PER_ADDRESS: '1000',
};

test.each(['a server', 'PostgreSQL'])(
  'no key lives again, no version comes again, and nothing is lost when the clock of %s jumps',
  async (whose) => {
    const clock = await createClock();
    const [ofServer, ofPostgres] = whose === 'a server' ? [clock.env, {}] : [{}, clock.env];
    await withDebianPostgres(
      async ({ databaseUrl }) => {
        const servers: Charter[] = [];
        const db = connectTo(databaseUrl);
        const receiver = await startScriptedServer();
        receiver.play(respondsWith(200));
        try {
          const first = await startCharter({ DATABASE_URL: databaseUrl, ...SERVER, ...ofServer });
          servers.push(first);
          const second = await startCharter({ DATABASE_URL: databaseUrl, ...SERVER });
          servers.push(second);
          const organization = await organizationAt(databaseUrl, first);
          await insertEndpoint(db, organization.id, { url: receiver.url });
          const keys = await issueKeys(db, organization);
          const browser = await signIn(db, first, organization);
          const clients = [organization.client, new Client(second.url, organization.key)] as const;
          const once = { headers: { 'Idempotency-Key': 'sent-after-each-jump' } };
          const createOnce = (client: Client) => untilAdmitted(() => client.post(LIST, { name: 'Once' }, once));
          const { body: created } = await createOnce(clients[0]);
          const integrations = startIntegrations(clients, [created]);
          for (const [i, seconds] of JUMPS.entries()) {
            await integrations.afterMore(WRITES);
            await clock.setAhead(seconds);
            await integrations.afterMore(WRITES);
            // The log arrives through a pipe, so its lines may arrive after the responses.
            await until(`the new time of ${whose}`, async () => {
              const ahead = whose === 'a server' ? aheadOf(first) : await aheadOfPostgres(db);
              return Math.abs(ahead - seconds) < 60;
            });
            // If the key has expired by the clock of the server that judges it, the key ends on both servers.
            if (i === 0)
              expect(await statusOf(() => clients[0].post(LIST, { name: 'Dead' }, { key: keys.expiring }))).toBe(401);
            for (const [name, key] of Object.entries(keys)) {
              for (const client of clients) {
                const read = await statusOf(() => client.get(LIST, { key }));
                const write = await statusOf(() => client.post(LIST, { name: 'Dead' }, { key }));
                expect({ seconds, name, read, write }).toEqual({ seconds, name, read: 401, write: 401 });
              }
            }
            expect(await statusOf(() => browser.get('/profile'))).toBe(200);
            for (const client of clients) expect((await createOnce(client)).body).toEqual(created);
          }
          const { violations, outages, events } = await integrations.end();
          expect(violations).toEqual([]);
          // When PostgreSQL's clock jumps, PostgreSQL ends transactions that seem to have been idle for ten minutes.
          if (whose === 'a server') expect(outages).toEqual([]);
          await until('the webhooks', () => {
            const sent = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
            return events.every(({ id }) => sent.has(id));
          });
          expect([first.child.exitCode, second.child.exitCode]).toEqual([null, null]);
        } finally {
          await receiver.close();
          await db.close();
          for (const server of servers) await kill(server);
        }
      },
      { env: ofPostgres },
    ).finally(() => clock.remove());
  },
);

async function statusOf(send: () => Promise<{ readonly status: number }>): Promise<number> {
  return (await untilAdmitted(send)).status;
}

/** Issues keys that have already ended, and one that expires during the jump. */
async function issueKeys(db: Database, { id: organizationId, email }: TestOrganization) {
  const issue = async (name: string) => {
    const lifeDays = 1;
    const permissions = ['parent_programs:read', 'parent_programs:write'] as const;
    return issueKeyByEmail(db, { email, name, permissions, lifeDays, environment: 'live' });
  };
  const [revoked, rotated, expiring] = [await issue('Revoked'), await issue('Rotated'), await issue('Expiring')];
  await revokeKeyById(db, revoked.id);
  const scope = OrganizationScope.grant(organizationId);
  const administrator = await createAccount(db, { role: 'administrator', scope });
  const { id: userId } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  orThrow(await rotateKey(db, administrator, { keyId: rotated.id, userId, environment: 'live' }));
  await db.prisma.apiKey.updateMany({
    where: { organizationId, id: expiring.id },
    data: { expiresAt: new Date(Date.now() + (JUMP_SECONDS / 2) * 1000) },
  });
  return { revoked: revoked.key, rotated: rotated.key, expiring: expiring.key };
}

async function signIn(db: Database, { url }: Charter, { id }: TestOrganization): Promise<Browser> {
  const { email } = await createAccount(db, { scope: OrganizationScope.grant(id) });
  const browser = new Browser(url);
  expect((await browser.signIn(email, PASSWORD)).status).toBe(303);
  return browser;
}

/** Returns by how many seconds the server's clock is ahead, according to the last line of its log. */
function aheadOf(charter: Charter): number {
  const time = logOf(charter).at(-1)?.['time'];
  return (Date.parse(String(time)) - Date.now()) / 1000;
}

/** Returns by how many seconds PostgreSQL's clock is ahead. */
async function aheadOfPostgres({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  return ((rows[0]?.now.getTime() ?? 0) - Date.now()) / 1000;
}
