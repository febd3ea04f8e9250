import { pino } from 'pino';
import type { TimeLimits } from '../../../src/api/unreadable-request.ts';
import { type App, type AppConfig, createApp } from '../../../src/app.ts';
import type { RequestLimits } from '../../../src/domain/keys/request-limits.ts';
import { PERMISSIONS, type Permission, type Role } from '../../../src/domain/people/role.ts';
import type { Observers } from '../../../src/observability/reporter.ts';
import { issueKeyByEmail } from '../../../src/service/operator/keys.ts';
import { createOrganization } from '../../../src/service/operator/organizations.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { traceStatements } from '../../../src/store/sql/trace-statements.ts';
import { Client } from '../clients/client.ts';
import { TARGETS } from '../data/webhooks.ts';
import { createScratchDatabase } from '../postgres/postgres.ts';
import { connectTo } from '../postgres/store.ts';
import { watchStatements } from '../postgres/watch-statements.ts';
import { watchOutput } from '../processes/secrecy.ts';
import { listen } from './listen.ts';

/**
 * A logger that prints nothing and checks that no line contains a secret. The logger adds no listener to the output of this
 * process, which runs many tests.
 */
export const SILENT = pino({ base: null }, { write: (line) => watchOutput('server', { stdout: line }) });

/** Rate limits that no test reaches. They are not off, so that responses have the headers of the limits. */
const HIGH_LIMITS: RequestLimits = { perKey: 1_000_000, perOrganization: 1_000_000, perAddress: 1_000_000 };

export type TestServer = {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly url: string;
  readonly anonymous: Client;
  readonly keyUses: App['keyUses'];
  readonly outbox: App['outbox'];
  passDays(days: number): void;
  close(): Promise<void>;
} & AsyncDisposable;

export type TestOrganization = {
  readonly id: string;
  /** The e-mail address of the organization's user, who has the requested role. */
  readonly email: string;
  readonly key: string;
  readonly client: Client;
};

type Options = {
  databaseUrl?: string | undefined;
  /** Returns the time of the server, in milliseconds since 1970. */
  clock?: () => number;
  timeLimits?: TimeLimits;
  /** The port; by default, a free one. */
  port?: number;
} & Partial<Observers> &
  Partial<Omit<AppConfig, 'now'>>;

const CONFIG: AppConfig = {
  environment: 'live',
  publicUrl: undefined,
  supportUrl: undefined,
  trustedProxies: [],
  webhooks: TARGETS,
  requestLimits: HIGH_LIMITS,
  responseCheck: null,
  responseCacheBytes: 64 * 1024 * 1024,
  mail: null,
  scannerKeys: new Map(),
  slowRequestMs: 60_000,
  // The machine that runs the tests may be slow.
  maxWaitMs: 30_000,
};

/** Starts a server for the tests of a file, and closes the server after them. */
export async function useServer(options: Options = {}): Promise<TestServer> {
  const server = await startServer(options);
  afterAll(() => server.close());
  return server;
}

/**
 * Starts the application on a free port, with a new database unless `databaseUrl` is given. The caller closes the application.
 */
export async function startServer({
  databaseUrl,
  clock = () => Date.now(),
  logger = SILENT,
  metrics,
  tracing = null,
  timeLimits,
  port,
  ...config
}: Options = {}): Promise<TestServer> {
  const scratch = databaseUrl === undefined ? await createScratchDatabase() : undefined;
  const url = scratch?.url ?? databaseUrl ?? '';
  const db = watchStatements(connectTo(url, 10));
  if (tracing !== null) traceStatements(db, tracing);
  let ahead = 0;
  const now = () => new Date(clock() + ahead);
  const observers = { logger, metrics, tracing };
  const app = await createApp({ config: { ...CONFIG, ...config, now }, db, observers });
  const listening = await listen(app.listener, { limits: timeLimits, port });
  const close = async () => {
    await listening.stop();
    await app.close();
    await db.close();
    await scratch?.drop();
  };
  return {
    db,
    databaseUrl: url,
    url: listening.url,
    anonymous: new Client(listening.url),
    keyUses: app.keyUses,
    outbox: app.outbox,
    passDays(days) {
      ahead += days * 86_400_000;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

let made = 0;

/** Creates an organization with one user and one key. The names are unique, so that tests can share a server. */
export async function createTestOrganization(
  server: Pick<TestServer, 'db' | 'url'>,
  {
    role = 'administrator',
    permissions = PERMISSIONS,
    lifeDays = 365,
  }: { role?: Role; permissions?: readonly Permission[]; lifeDays?: number | null } = {},
): Promise<TestOrganization> {
  made += 1;
  const email = `user-${made}-${crypto.randomUUID()}@example.test`;
  const user = { email, name: `User ${made}`, role, passwordHash: null, hasAccepted: true };
  const { organizationId } = await createOrganization(server.db, { name: `Organization ${made}`, users: [user] });
  const { key } = await issueKeyByEmail(server.db, { email, name: 'Test', permissions, lifeDays, environment: 'live' });
  return { id: organizationId, email, key, client: new Client(server.url, key) };
}
