import { withClient } from '../postgres/postgres.ts';
import { connectTo } from '../postgres/store.ts';
import { createTestOrganization, type TestOrganization } from '../servers/server.ts';
import { startLoad } from '../traffic/load.ts';
import { until } from '../wait.ts';
import { kill, type Running, startFile, untilPrinted } from './process.ts';

export type Charter = Running & { readonly url: string };

export const SERVES = /"url":"(http:[^"]+)".*"msg":"Charter is listening"/;

export const HIGH_LIMITS = {
  RATE_LIMIT_PER_KEY: '1000000',
  RATE_LIMIT_PER_ORGANIZATION: '1000000',
  RATE_LIMIT_PER_ADDRESS: '1000000',
};

/** Starts the server as an operator does, on a free port and in production mode, so without demonstration data. */
export async function startCharter(env: Record<string, string>): Promise<Charter> {
  const defaults = { PORT: '0', NODE_ENV: 'production', ...HIGH_LIMITS };
  const running = startFile('src/main.ts', [], { ...defaults, ...env });
  try {
    const [, url = ''] = await untilPrinted(running, SERVES);
    return { ...running, url };
  } catch (error) {
    await kill(running);
    throw error;
  }
}

/** Stops the server as an operator does. Fails if the server has already exited. */
export async function endCharter({ child, ended }: Charter): Promise<void> {
  expect({ code: child.exitCode, signal: child.signalCode }).toEqual({ code: null, signal: null });
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
}

/**
 * Stops the server under load. Checks that the server exits with 0, that every request has got its response, and that every
 * acknowledged write exists.
 */
export async function stopUnderLoad(databaseUrl: string, charter: Charter, clients: number): Promise<void> {
  try {
    const { id, key } = await organizationAt(databaseUrl, charter);
    const load = startLoad(charter.url, { key, clients });
    await until('all clients to be at work', load.isSteady);
    charter.child.kill('SIGTERM');
    const { created, problems } = await load.ended;
    expect({ problems, code: (await charter.ended).code }).toEqual({ problems: [], code: 0 });
    const names = await withClient(databaseUrl, (client) =>
      client.query('select name from parent_programs where organization_id = $1', [id]),
    );
    expect(names.rows.map(({ name }) => name).sort()).toEqual(created.sort());
  } finally {
    await kill(charter);
  }
}

/** Resolves when the server has begun to shut down. */
export function untilStopping({ printed }: Running) {
  return until('it to stop', () => printed.stdout.includes('"msg":"shutting down, finishing requests in flight"'));
}

export async function withCharter<T>(env: Record<string, string>, work: (charter: Charter) => Promise<T>): Promise<T> {
  await using charter = await startCharter(env);
  return await work(charter);
}

/** Creates an organization with a key, for a server in another process. */
export async function organizationAt(databaseUrl: string, { url }: { url: string }): Promise<TestOrganization> {
  await using db = connectTo(databaseUrl, 1);
  return await createTestOrganization({ db, url });
}

export type LogLine = Readonly<Record<string, unknown>>;

/** Returns the complete lines of the log. Throws if a line is not JSON. */
export function logOf({ printed }: Running): LogLine[] {
  return printed.stdout
    .split('\n')
    .slice(0, -1)
    .map((line): LogLine => JSON.parse(line));
}
