import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as newId } from 'uuid';
import { placeOfWebhookSecret } from '../../src/store/secrets.ts';
import { quantile } from './compare.ts';
import type { Data, Organization } from './data.ts';
import { KEYRING } from './encryption.ts';
import type { Figure } from './figure.ts';
import { grouped } from './numbers.ts';

export type Receiver = {
  readonly url: string;
  /** For each webhook, the time from its event to its arrival. */
  readonly milliseconds: number[];
  close(): void;
};

const FINE = (res: ServerResponse) => void res.writeHead(204).end();
const BROKEN = (res: ServerResponse) => void res.writeHead(500).end();
const SILENT = () => {};

/** A receiver of webhooks in this process, which responds with 204 by default. */
export async function startReceiver(respond: (res: ServerResponse) => void = FINE): Promise<Receiver> {
  const milliseconds: number[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString());
    milliseconds.push(Date.now() - Date.parse(timestamp));
    respond(res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    milliseconds,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export async function addEndpoint(client: pg.Client, { id: organizationId }: Organization, url: string): Promise<void> {
  const id = newId();
  await client.query(
    `insert into webhook_endpoints (organization_id, id, url, event_types, secret)
     values ($1, $2, $3, '{parent_program.created,parent_program.updated,parent_program.deleted}', $4)`,
    [organizationId, id, url, KEYRING.encrypt(randomBytes(32), placeOfWebhookSecret({ organizationId, id }))],
  );
}

async function deleteEndpoints(client: pg.Client, organizations: readonly Organization[]): Promise<void> {
  const ids = organizations.map(({ id }) => id);
  await client.query('delete from webhook_endpoints where organization_id = any($1)', [ids]);
}

const RECEIVERS = 4;
const RATE_GOAL = 500;
const EVENTS = 1000;
const EVENTS_PER_SECOND = 100;
const P99_GOAL_SECONDS = 2;
const PATIENCE_SECONDS = 120;

/** The measured processes deliver together. No other case has changed these organizations. */
export async function measureWebhooks({ small }: Data, client: pg.Client): Promise<Figure[]> {
  const [one, ...others] = small.slice(50, 51 + RECEIVERS);
  if (one === undefined) throw new Error('The data has too few organizations. Run npm run bench -- --fresh.');
  return [await measureRate(others, client), await measureLatency(one, client)];
}

/** Changes every program of some organizations in one statement, and counts how fast the webhooks arrive. */
async function measureRate(organizations: readonly Organization[], client: pg.Client): Promise<Figure> {
  const receivers = await Promise.all(organizations.map(() => startReceiver()));
  for (const [i, organization] of organizations.entries())
    await addEndpoint(client, organization, receivers[i]?.url ?? '');
  const received = () => receivers.reduce((sum, { milliseconds }) => sum + milliseconds.length, 0);
  const rates: number[] = [];
  // The first round opens the connections.
  for (let round = 0; round < 3; round += 1) {
    const before = received();
    const { rowCount } = await client.query(
      'update parent_programs set description = $2 where organization_id = any($1)',
      [organizations.map(({ id }) => id), `Changed in round ${round}, ${Date.now()}`],
    );
    await untilReceived(received, before + 1);
    const startedAt = performance.now();
    await untilReceived(received, before + (rowCount ?? 0));
    rates.push(((rowCount ?? 0) * 1000) / (performance.now() - startedAt));
  }
  await deleteEndpoints(client, organizations);
  for (const receiver of receivers) receiver.close();
  const rate = Math.max(...rates.slice(1));
  const title = `webhooks to ${RECEIVERS} receivers on this machine`;
  return { title, value: `${grouped(rate)} deliveries/s (goal: ${RATE_GOAL})`, isMissed: rate < RATE_GOAL };
}

/** Changes one program after the other, with one endpoint that is well, one that responds with 500 and one that hangs. */
async function measureLatency(organization: Organization, client: pg.Client): Promise<Figure> {
  const receivers = [await startReceiver(), await startReceiver(BROKEN), await startReceiver(SILENT)] as const;
  for (const { url } of receivers) await addEndpoint(client, organization, url);
  const [well] = receivers;
  for (let i = 0; i < EVENTS; i += 1) {
    await client.query(
      `update parent_programs set description = $2
       where organization_id = $1 and id = (
         select id from parent_programs where organization_id = $1 order by created_at, id offset $3 limit 1)`,
      [organization.id, `Changed ${Date.now()}`, i % 1000],
    );
    await delay(1000 / EVENTS_PER_SECOND);
  }
  await untilReceived(() => well.milliseconds.length, EVENTS);
  await deleteEndpoints(client, [organization]);
  for (const receiver of receivers) receiver.close();
  const seconds = quantile(well.milliseconds, 0.99) / 1000;
  const title = 'p99 from a change to its webhook, beside an endpoint that hangs and one that responds with 500';
  return { title, value: `${seconds.toFixed(2)} s (goal: ${P99_GOAL_SECONDS})`, isMissed: seconds > P99_GOAL_SECONDS };
}

async function untilReceived(received: () => number, count: number): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_SECONDS * 1000;
  while (received() < count) {
    if (performance.now() > giveUpAt) throw new Error(`Only ${received()} of ${count} webhooks arrived.`);
    await delay(5);
  }
}
