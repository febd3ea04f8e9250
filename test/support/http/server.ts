import { pino } from 'pino';
import type { TimeLimits } from '../../../src/api/unreadable-request.ts';
import { type AppDeps, createApp } from '../../../src/app.ts';
import type { Environment } from '../../../src/domain/api-key.ts';
import type { RequestLimits } from '../../../src/domain/request-limits.ts';
import { PERMISSIONS, type Permission, type Role } from '../../../src/domain/role.ts';
import { logRefusals } from '../../../src/observability/overload-log.ts';
import { openPublication } from '../../../src/publication/routes.ts';
import { createOutbox } from '../../../src/service/mail.ts';
import { createOrganization, issueKeyByEmail } from '../../../src/service/operator.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { traceStatements } from '../../../src/store/trace-statements.ts';
import { type KeyUseWriter, startKeyUses } from '../../../src/traffic/last-used.ts';
import { KEYRING } from '../data/encryption.ts';
import { TARGETS } from '../data/webhooks.ts';
import { createScratchDatabase } from '../postgres/postgres.ts';
import { Client } from './client.ts';
import { listen } from './listen.ts';

/** Logs nothing, and adds no listener to the output of the process, which runs many tests. */
export const SILENT = pino({ level: 'silent' }, { write() {} });

/** No test reaches them, but every response of a key has the headers of the limits. */
const HIGH_LIMITS: RequestLimits = { perKey: 1_000_000, perOrganization: 1_000_000, perAddress: 1_000_000 };

export type TestServer = {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly url: string;
  /** A client without a key. */
  readonly anonymous: Client;
  readonly keyUses: KeyUseWriter;
  /** Moves the server's clock forward. */
  passDays(days: number): void;
  close(): Promise<void>;
};

export type TestOrganization = {
  readonly id: string;
  /** The first of its users has the requested role. */
  readonly email: string;
  readonly key: string;
  readonly client: Client;
};

type Options = {
  environment?: Environment;
  databaseUrl?: string | undefined;
  /** Milliseconds since 1970. */
  clock?: () => number;
  timeLimits?: TimeLimits;
} & Partial<
  Pick<
    AppDeps,
    | 'logger'
    | 'outbox'
    | 'publicUrl'
    | 'trustedProxies'
    | 'webhooks'
    | 'requestLimits'
    | 'responseCheck'
    | 'served'
    | 'responseCacheBytes'
    | 'apiWaitMs'
    | 'refusalPauseMs'
    | 'metrics'
    | 'tracing'
  >
>;

/** A server for the tests of a file, closed after them. */
export async function useServer(options: Options = {}): Promise<TestServer> {
  const server = await startServer(options);
  afterAll(() => server.close());
  return server;
}

/** The application on a free port, over a database of its own. The caller closes it. */
export async function startServer({
  environment = 'live',
  databaseUrl,
  clock = () => Date.now(),
  logger = SILENT,
  outbox = createOutbox(null, () => {}),
  publicUrl,
  trustedProxies = [],
  webhooks = TARGETS,
  requestLimits = HIGH_LIMITS,
  responseCheck = null,
  responseCacheBytes = 64 * 1024 * 1024,
  served,
  // The machine that runs the tests may be slow.
  apiWaitMs = 30_000,
  refusalPauseMs,
  metrics,
  tracing = null,
  timeLimits,
}: Options = {}): Promise<TestServer> {
  const scratch = databaseUrl === undefined ? await createScratchDatabase() : undefined;
  const url = scratch?.url ?? databaseUrl ?? '';
  const db = openDatabase({ url, keyring: KEYRING, poolSize: 10, onIdleError: () => {} });
  if (tracing !== null) traceStatements(db, tracing);
  let ahead = 0;
  const now = () => new Date(clock() + ahead);
  const keyUses = startKeyUses(db, { onFailure: (error) => logger.warn({ err: error }) });
  const refusals = logRefusals(logger);
  const { listener } = await createApp({
    db,
    logger,
    environment,
    keyUses,
    outbox,
    publicUrl,
    trustedProxies,
    webhooks,
    requestLimits,
    responseCacheBytes,
    responseCheck,
    apiWaitMs,
    refusalPauseMs,
    metrics,
    tracing,
    publication: openPublication(),
    countRefusal: refusals.log,
    served,
    now,
    isStopping: () => false,
  });
  const listening = await listen(listener, { limits: timeLimits });
  return {
    db,
    databaseUrl: url,
    url: listening.url,
    anonymous: new Client(listening.url),
    keyUses,
    passDays(days) {
      ahead += days * 86_400_000;
    },
    async close() {
      await listening.stop();
      refusals.stop();
      await outbox.settle();
      await keyUses.stop();
      await db.close();
      await scratch?.drop();
    },
  };
}

let made = 0;

/** An organization with one user and one key. Its names are unique, so that tests can share a server. */
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
  const user = { email, name: `User ${made}`, role, passwordHash: null };
  const { organizationId } = await createOrganization(server.db, { name: `Organization ${made}`, users: [user] });
  const { key } = await issueKeyByEmail(server.db, { email, name: 'Test', permissions, lifeDays, environment: 'live' });
  return { id: organizationId, email, key, client: new Client(server.url, key) };
}
