import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { v7 as newId } from 'uuid';
import { placeOfWebhookSecret } from '../../src/store/sql/secrets.ts';
import { type Data, KEYRING, type Organization } from './data.ts';
import { grouped } from './report.ts';

export type Receiver = {
  readonly url: string;
  /** The webhooks that have arrived. */
  count(): number;
  close(): void;
};

/** A receiver of webhooks in this process. */
export async function startReceiver(): Promise<Receiver> {
  let received = 0;
  const server = createServer((req, res) => {
    req.resume().once('end', () => {
      received += 1;
      res.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    count: () => received,
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

const RECEIVERS = 4;
const ROUNDS = 3;
const PATIENCE_SECONDS = 120;

/**
 * Changes every program of some organizations in one statement, and counts how fast the webhooks arrive. All measured
 * processes deliver together. No other case has changed these organizations.
 */
export async function measureWebhooks({ small }: Data, client: pg.Client): Promise<string> {
  const organizations = small.slice(50, 50 + RECEIVERS);
  const ids = organizations.map(({ id }) => id);
  const receivers = await Promise.all(organizations.map(() => startReceiver()));
  for (const [i, organization] of organizations.entries())
    await addEndpoint(client, organization, receivers[i]?.url ?? '');
  const received = () => receivers.reduce((sum, receiver) => sum + receiver.count(), 0);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = received();
    const { rowCount } = await client.query(
      'update parent_programs set description = $2 where organization_id = any($1)',
      [ids, `Changed in round ${round}, ${Date.now()}`],
    );
    await untilReceived(received, before + 1);
    const startedAt = performance.now();
    await untilReceived(received, before + (rowCount ?? 0));
    rates.push(((rowCount ?? 0) * 1000) / (performance.now() - startedAt));
  }
  await client.query('delete from webhook_endpoints where organization_id = any($1)', [ids]);
  for (const receiver of receivers) receiver.close();
  // The first round opens the connections.
  return `Webhooks to ${RECEIVERS} receivers on this machine: ${grouped(Math.max(...rates.slice(1)))} deliveries a second.\n`;
}

async function untilReceived(received: () => number, count: number): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_SECONDS * 1000;
  while (received() < count) {
    if (performance.now() > giveUpAt) throw new Error(`Only ${received()} of ${count} webhooks arrived.`);
    await delay(5);
  }
}
