import { pino } from 'pino';
import type { AppConfig } from '../../../src/app.ts';
import { dashboardRoutes } from '../../../src/dashboard/routes.ts';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { WebhookTargets } from '../../../src/domain/forbidden-address.ts';
import type { Environment } from '../../../src/domain/keys/api-key.ts';
import { DEFAULT_LIMITS } from '../../../src/domain/keys/request-limits.ts';
import type { ScannerKeys } from '../../../src/domain/keys/secret-scanning.ts';
import type { KeyPolicy } from '../../../src/domain/people/role.ts';
import type { MailConfig, Outbox } from '../../../src/service/mail.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { createDatabaseQueues } from '../../../src/traffic/fair-queue.ts';
import { openSession } from '../data/accounts.ts';
import { createPeople, type People } from '../data/actors.ts';
import { TARGETS } from '../data/webhooks.ts';
import { watchOutput } from '../processes/secrecy.ts';
import { startServer } from '../servers/server.ts';
import { Browser } from './dashboard.ts';

export type TestDashboard = {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly url: string;
  readonly logged: string[];
  /** All paths that the dashboard serves, in the router's notation: "/people/users/:userId". */
  readonly paths: readonly string[];
  readonly isSecure: boolean;
  readonly outbox: Outbox;
  passMinutes(minutes: number): void;
  now(): Date;
  /** Returns the status of the API's response to the key. */
  statusOf(key: string): Promise<number>;
  /** Writes the recorded uses of keys, as the server does every few seconds. */
  writeUses(): Promise<void>;
  close(): Promise<void>;
} & AsyncDisposable;

type Options = {
  environment?: Environment;
  databaseUrl?: string;
  publicUrl?: string;
  mail?: MailConfig;
  scannerKeys?: ScannerKeys;
  trustedProxies?: readonly string[];
  webhooks?: WebhookTargets;
  nameServers?: readonly string[];
} & Partial<Pick<AppConfig, 'cell' | 'cells' | 'commonUrl' | 'cellDomainsFile'>>;

/** Starts a dashboard for the tests of a file, and closes the dashboard after them. */
export async function useDashboard(options: Options = {}): Promise<TestDashboard> {
  const dashboard = await startDashboard(options);
  afterAll(() => dashboard.close());
  return dashboard;
}

/** Starts the dashboard and the API, with a new database unless `databaseUrl` is given. The caller closes the dashboard. */
export async function startDashboard({
  environment = 'live',
  databaseUrl,
  publicUrl,
  mail,
  scannerKeys = new Map(),
  trustedProxies = [],
  webhooks = TARGETS,
  nameServers = [],
  ...cells
}: Options = {}): Promise<TestDashboard> {
  const logged: string[] = [];
  const write = (line: string) => {
    logged.push(line);
    watchOutput('dashboard', { stdout: line });
  };
  const logger = pino({ level: 'trace', base: null }, { write });
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead);
  const { db, url, keyUses, outbox, anonymous, ...server } = await startServer({
    environment,
    databaseUrl,
    publicUrl,
    trustedProxies,
    webhooks,
    nameServers,
    ...cells,
    logger,
    mail: mail ?? null,
    scannerKeys,
    clock: () => Date.now() + ahead,
    requestLimits: { ...DEFAULT_LIMITS, perAddress: 0 },
  });
  const paths = pathsOf(
    dashboardRoutes({
      db,
      environment,
      isHttps: false,
      outbox,
      scannerKeys,
      webhooks,
      providers: { fetch: () => Promise.reject(), resolveTxt: async () => [], allowHttp: false },
      requestLimits: DEFAULT_LIMITS,
      clientAddressOf: () => '',
      throttle: async () => {},
      keyUses: { freshen: async () => {}, delaySeconds: () => 0 },
      queue: createDatabaseQueues(10).dashboard,
      now,
      onFault: () => {},
      onOverload: () => {},
      setPageHeaders: () => {},
    }),
  );
  return {
    db,
    databaseUrl: server.databaseUrl,
    url,
    logged,
    paths,
    now,
    isSecure: publicUrl?.startsWith('https:') ?? false,
    outbox,
    passMinutes(minutes) {
      ahead += minutes * 60_000;
    },
    statusOf: async (key) => (await anonymous.get('/api/key', { key })).status,
    writeUses: () => keyUses.flush(),
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}

/** Returns a browser in which the user is signed in. The browser sends `headers` with each request. */
export async function browserOf(
  dashboard: TestDashboard,
  actor: Actor,
  headers: Readonly<Record<string, string>> = {},
): Promise<Browser> {
  const token = await openSession(dashboard.db, actor, dashboard.now());
  const browser = new Browser(dashboard.url, { headers });
  browser.cookies.set(dashboard.isSecure ? '__Host-charter' : 'charter', token);
  return browser;
}

/** Creates an organization with its people, and a browser in which the person with this role is signed in. */
export async function createSignedIn(
  dashboard: TestDashboard,
  role: Exclude<keyof People, 'scope'>,
  policy: Partial<KeyPolicy> = {},
): Promise<People & { readonly browser: Browser }> {
  const people = await createPeople(dashboard.db, policy);
  return { ...people, browser: await browserOf(dashboard, people[role]) };
}

let visitors = 0;

/** Returns a browser with its own IP address, so that its failed sign-ins do not slow down other tests. */
export function newBrowser({ url }: Pick<TestDashboard, 'url'>): Browser {
  visitors += 1;
  return new Browser(url, { localAddress: `127.${20 + (visitors >> 16)}.${(visitors >> 8) & 255}.${visitors & 255}` });
}

/** Returns a browser with its own IP address, in which the user is signed in. */
export async function visit(dashboard: TestDashboard, actor: Actor): Promise<Browser> {
  const browser = newBrowser(dashboard);
  for (const [name, value] of (await browserOf(dashboard, actor)).cookies) browser.cookies.set(name, value);
  return browser;
}

/**
 * Fills the ids into a path of the router. Without an id, the name of the parameter stays in the path, because the name is not a
 * valid id. A missing token becomes empty.
 */
export function fill(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? (name === 'token' ? '' : name));
}

/** Returns a hash for each table that a user's action could change. Equal hashes mean that nothing has changed. */
export async function rowsOf({ pool }: Database): Promise<unknown[]> {
  const tables = [
    'organizations',
    'users',
    'api_keys',
    'parent_programs',
    'access_links',
    'sessions',
    'passkeys',
    'audit_events',
    'webhook_endpoints',
    'webhook_deliveries',
    'sso_connections',
    'sso_domains',
    'sso_group_roles',
    'sso_identities',
    'sso_sign_ins',
  ];
  // Leaves out when and from where a session was last seen, because this can change at any minute.
  const row = `(to_jsonb(t) - '{last_seen_at,ip,user_agent}'::text[])::text`;
  const print = (table: string) =>
    `select '${table}' as name, md5(coalesce(string_agg(${row}, ',' order by ${row}), '')) as print from ${table} t`;
  return (await pool.query(tables.map(print).join(' union all '))).rows;
}

/** Returns the paths of the router, read from the router itself, so that tests also attack new paths. */
function pathsOf(router: unknown): string[] {
  const stack: unknown = isObject(router) ? Reflect.get(router, 'stack') : undefined;
  const layers: unknown[] = Array.isArray(stack) ? stack : [];
  return layers.filter(isObject).flatMap((layer) => {
    const route: unknown = Reflect.get(layer, 'route');
    const path: unknown = isObject(route) ? Reflect.get(route, 'path') : undefined;
    return typeof path === 'string' ? [path] : pathsOf(Reflect.get(layer, 'handle'));
  });
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
