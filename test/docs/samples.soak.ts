// Every sample runs exactly as shown, because readers copy samples first.
import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { seed } from '../../prisma/seed.ts';
import { readContract } from '../../scripts/docs/contract.ts';
import { LANGUAGES, samplesOf } from '../../scripts/docs/samples/languages.ts';
import { requestOf, targetOf } from '../../scripts/docs/samples/request.ts';
import { findOnPath, PROGRAMS_REMEDY } from '../../scripts/programs.mjs';
import { firstExample, type Operation, successOf } from '../../src/contract/document.ts';
import { deleteExpired } from '../../src/observability/housekeeping.ts';
import { getPackedClient, installClient, typeCheck, write } from '../support/clients/client-package.ts';
import { createItem, lists, tableOf } from '../support/contract/resources.ts';
import type { TestDashboard } from '../support/dashboard/dashboard-server.ts';
import { useDashboard } from '../support/dashboard/dashboard-server.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { openTestDatabase } from '../support/postgres/store.ts';
import { withCharter } from '../support/processes/charter.ts';
import { createTestOrganization, SILENT } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const { operations } = await readContract(join(import.meta.dirname, '../../generated/openapi.json'));

/** Returns the id of the row in the contract's first example. */
function shownIdOf(path: string): string {
  const parameters = operations.filter((each) => each.path === path).flatMap((each) => each.parameters ?? []);
  return String(firstExample(parameters.find(({ name }) => name === 'id')?.examples ?? {}));
}

type RunnableSample = {
  readonly operationId: string;
  readonly label: string;
  readonly source: string;
  /** The line that the server must have logged, for example "GET /api/key 200". */
  readonly request: string;
};

const samples: readonly RunnableSample[] = operations.flatMap(runnable);

/** Returns the operation's samples, as if `body` were its example body. */
function samplesWithBody(operationId: string, body: unknown): readonly RunnableSample[] {
  return operations
    .filter((operation) => operation.operationId === operationId)
    .flatMap((operation) => {
      const examples = { shown: { value: body } };
      const content = { 'application/json': { schema: {}, examples } };
      return runnable({ ...operation, requestBody: { description: '', content } });
    });
}

function runnable(operation: Operation): readonly RunnableSample[] {
  const { operationId, method } = operation;
  const path = targetOf({ ...requestOf(operation), query: {} });
  const request = `${method.toUpperCase()} ${path} ${successOf(operation)}`;
  return samplesOf(operation).map(({ label, source }) => ({ operationId, label, source, request }));
}

/** The command that a reader would type, and the extension of the file into which they would paste the sample. */
const RUNNERS: Readonly<Record<string, readonly [program: string, extension: string, ...parameters: string[]]>> = {
  curl: ['bash', 'sh'],
  TypeScript: [process.execPath, 'ts'],
  JavaScript: [process.execPath, 'mjs'],
  Python: ['python3', 'py'],
  Go: ['go', 'go', 'run'],
  PHP: ['php', 'php'],
};

/**
 * Runs the sample unchanged in an organization with the data that the sample needs. Returns its output. Throws if the sample
 * fails.
 */
async function runSample(dashboard: TestDashboard, sample: RunnableSample, folder: string): Promise<string> {
  const { id: organizationId, key, client } = await createTestOrganization(dashboard);
  const [, requested = ''] = sample.request.split(' ');
  for (const path of lists) {
    const own = requested.startsWith(`${path}/`) ? /[0-9a-f-]{36}$/.exec(requested)?.[0] : undefined;
    const shownId = own ?? shownIdOf(`${path}/{id}`);
    const ids = [organizationId, await createItem(client, { path }), shownId];
    await dashboard.db.pool.query(
      `update ${tableOf({ path })} set id = $3 where organization_id = $1 and id = $2`,
      ids,
    );
  }
  if (sample.request.startsWith('PUT ')) await client.put(requested, { name: 'To be replaced' });
  const before = dashboard.logged.length;
  const printed = await pasteSample(sample, { url: dashboard.url, key, folder });
  await until(`${sample.request} to be logged`, () =>
    dashboard.logged.slice(before).some((line) => requestIn(line) === sample.request),
  );
  return printed;
}

type Place = {
  readonly url: string;
  readonly key: string;
  /** The folder in which the sample runs. The client is installed there. */
  readonly folder: string;
};

/** Runs the sample unchanged, as a reader would. Returns its output. Throws if the sample fails. */
async function pasteSample(
  { operationId, label, source }: Pick<RunnableSample, 'operationId' | 'label' | 'source'>,
  { url, key, folder }: Place,
): Promise<string> {
  const [program, extension, ...parameters] = RUNNERS[label] ?? [];
  if (program === undefined) throw new Error(`Nobody has said how a sample in ${label} is run.`);
  if (program !== process.execPath && findOnPath([program]) === null)
    throw new Error(`There is no ${program}. ${PROGRAMS_REMEDY}`);
  const file = join(folder, `${operationId}.${extension}`);
  await writeFile(file, source);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, CHARTER_URL: url, CHARTER_API_KEY: key };
  return (await promisify(execFile)(program, [...parameters, file], { env, cwd: folder })).stdout;
}

/** Returns the request in a line of the server's log, for example "GET /api/key 200". */
function requestIn(line: string): string {
  const { method, path, status } = JSON.parse(line);
  return `${method} ${path} ${status}`;
}

const KEY_OF_WELCOME = /curl -H "Authorization: Bearer (\S+)" "http/;

const dashboard = await useDashboard();
const scratch = await installClient(await getPackedClient());
afterAll(() => scratch.remove());

test('each operation has samples in six languages', () => {
  expect(LANGUAGES.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'JavaScript', 'Python', 'Go', 'PHP']);
  const all = operations.flatMap(({ operationId }) => LANGUAGES.map(({ label }) => `${operationId} ${label}`));
  expect(samples.map(({ operationId, label }) => `${operationId} ${label}`).sort()).toEqual(all.sort());
});

/** The output of the samples in a language, by operation, and the requests that the server logged while the samples ran. */
type Pasted = { readonly printed: ReadonlyMap<string, string>; readonly requests: readonly string[] };

const pasted = new Map<string, Promise<Pasted>>();

/** Runs the samples in a language once for several tests. */
function pastedIn(label: string): Promise<Pasted> {
  const run = pasted.get(label) ?? pasteAll(samples.filter((sample) => sample.label === label));
  pasted.set(label, run);
  return run;
}

/**
 * Runs the samples one after the other on a fresh demonstration. Deletions come first, because no other sample needs what they
 * delete.
 */
async function pasteAll(own: readonly RunnableSample[]): Promise<Pasted> {
  const inOrder = [...own.filter(isDeletion), ...own.filter((sample) => !isDeletion(sample))];
  return withStarted(async ({ url, key, requests }) => {
    const printed = new Map<string, string>();
    for (const sample of inOrder)
      printed.set(sample.operationId, await pasteSample(sample, { url, key, folder: scratch.folder }));
    const last = inOrder.at(-1)?.request ?? '';
    await until('the last request to be logged', () => requests().includes(last));
    return { printed, requests: requests() };
  });
}

type Demonstration = { readonly url: string; readonly key: string; readonly requests: () => string[] };

/** Starts the demonstration that `npm start` creates for newcomers. */
function withStarted<T>(work: (demonstration: Demonstration) => Promise<T>): Promise<T> {
  return withScratchDatabase((DATABASE_URL) =>
    withCharter({ DATABASE_URL, NODE_ENV: 'development' }, async ({ url, printed }) => {
      const [, key = ''] = await until('the key of the demonstration', () => KEY_OF_WELCOME.exec(printed.stdout));
      return work({ url, key, requests: () => requestsIn(printed.stdout) });
    }),
  );
}

const isDeletion = ({ request }: { request: string }) => request.startsWith('DELETE ');

/** Returns each request to the API in the complete lines of the log, for example "GET /api/key 200". */
function requestsIn(log: string): string[] {
  const lines = log.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{') && line.includes('"path":"/api/')).map(requestIn);
}

test.each(samples)('the sample of $operationId in $label works as pasted on a fresh demonstration', async (sample) => {
  const { printed, requests } = await pastedIn(sample.label);
  expect(requests).toContain(sample.request);
  // curl prints the body of the response, and a deletion has no body.
  if (!isDeletion(sample)) expect(printed.get(sample.operationId)).not.toBe('');
});

test('the samples in TypeScript compile', async () => {
  const ofOurs = samples.filter(({ label }) => label === 'TypeScript');
  const files = ofOurs.map(({ operationId }) => `compiled/${operationId}.ts`);
  for (const [i, file] of files.entries()) await write(join(scratch.folder, file), ofOurs[i]?.source ?? '');
  // `skipLibCheck` is set, because the test of the client's README checks the client's declarations.
  expect(await typeCheck(scratch, files, { skipLibCheck: true })).toEqual({ code: 0, stdout: '', stderr: '' });
});

test.each(LANGUAGES.map(({ label }) => label))(
  'a refused sample in %s exits with an error and shows the message of the server',
  async (label) => {
    const [sample] = samplesWithBody('createParentProgram', { name: '' }).filter((each) => each.label === label);
    if (sample === undefined) throw new Error(`There is no sample in ${label}.`);
    const failed: unknown = await runSample(dashboard, sample, scratch.folder).catch((error: unknown) => error);
    const { stdout, stderr } = Object(failed);
    expect(String(failed)).toContain('Command failed');
    expect(`${stdout}${stderr}`).toContain('name must not be blank.');
    expect(`${stdout}${stderr}`).not.toContain('Traceback');
  },
);

test('the demonstration has and keeps the parent programs and the event that the samples name', async () => {
  const { db, close } = await openTestDatabase();
  try {
    await seed(db, 'live');
    await deleteExpired(db, SILENT, { now: new Date(), retention: { eventDays: 30 } });
    const named = samples.flatMap(({ request }) => /\/api\/parent_programs\/([0-9a-f-]{36})/.exec(request)?.[1] ?? []);
    const programs = await db.prisma.parentProgram.findMany({
      where: { id: { in: named } },
      orderBy: { createdAt: 'asc' },
    });
    expect(programs.map(({ name }) => name)).toEqual([
      'Nordic Scholars Exchange 2025',
      'Nordic Apprenticeship Initiative 2025',
    ]);
    const events = await db.prisma.event.findMany({ where: { id: shownIdOf('/api/events/{id}') } });
    expect(events.map(({ data }) => data)).toMatchObject([{ id: programs[0]?.id, name: programs[0]?.name }]);
  } finally {
    await close();
  }
});

// The attack: a quote in an example ends the string literal, and the rest of the example is executed.
test('samples send any content of an example and execute none of it', async () => {
  const name = `It's "$HOME" $(touch run) \`touch run\` \${process.exit(3)} \\ %s é 😀`;
  const nasty = samplesWithBody('createParentProgram', { name });
  for (const sample of nasty) await runSample(dashboard, sample, scratch.folder);
  expect(await dashboard.db.prisma.parentProgram.count({ where: { name } })).toBe(nasty.length);
});

// The linter allows only the syntax of patterns that many languages share. This test compiles the patterns in one of these
// languages.
test('Python compiles every pattern of the contract', async () => {
  const text = await readFile(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8');
  const patterns: unknown[] = [];
  JSON.parse(text, (name, value) => {
    if (name === 'pattern' && typeof value === 'string') patterns.push(value);
    return value;
  });
  expect(patterns.length).toBeGreaterThan(20);
  const program = 'import json, re, sys; [re.compile(pattern) for pattern in json.load(sys.stdin)]';
  const { stderr } = spawnSync('python3', ['-c', program], { input: JSON.stringify(patterns), encoding: 'utf8' });
  expect(stderr).toBe('');
});
