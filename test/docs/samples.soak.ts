// Every sample runs exactly as shown, because readers copy samples first.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seed } from '../../prisma/seed.ts';
import { LANGUAGES } from '../../scripts/docs/samples/languages.ts';
import { deleteExpired } from '../../src/observability/housekeeping.ts';
import { getPackedClient, installClient, typeCheck, write } from '../support/clients/client-package.ts';
import { operations } from '../support/contract/contract.ts';
import {
  pasteSample,
  type RunnableSample,
  requestIn,
  runSample,
  samples,
  samplesWithBody,
  shownIdOf,
} from '../support/contract/samples.ts';
import { useDashboard } from '../support/dashboard/dashboard-server.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { openTestDatabase } from '../support/postgres/store.ts';
import { withCharter } from '../support/processes/charter.ts';
import { SILENT } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const KEY_OF_WELCOME = /curl -H "Authorization: Bearer (\S+)" "http/;

const dashboard = await useDashboard();
const scratch = await installClient(await getPackedClient());
afterAll(() => scratch.remove());

test('each operation has samples in six languages', () => {
  expect(LANGUAGES.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'JavaScript', 'Python', 'Go', 'PHP']);
  const all = operations.flatMap(({ operationId }) => LANGUAGES.map(({ label }) => `${operationId} ${label}`));
  expect(samples.map(({ operationId, label }) => `${operationId} ${label}`).sort()).toEqual(all.sort());
});

/** The output of the samples in a language, by operation, and the requests that the server logged meanwhile. */
type Pasted = { readonly printed: ReadonlyMap<string, string>; readonly requests: readonly string[] };

const pasted = new Map<string, Promise<Pasted>>();

/** Runs the samples in a language once for several tests. */
function pastedIn(label: string): Promise<Pasted> {
  const run = pasted.get(label) ?? pasteAll(samples.filter((sample) => sample.label === label));
  pasted.set(label, run);
  return run;
}

/** Runs the samples one after the other on a fresh demonstration. The deletions come first: no other sample needs what they delete. */
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

/** The demonstration that `npm start` creates for newcomers. */
function withStarted<T>(work: (demonstration: Demonstration) => Promise<T>): Promise<T> {
  return withScratchDatabase((DATABASE_URL) =>
    withCharter({ DATABASE_URL, NODE_ENV: 'development' }, async ({ url, printed }) => {
      const [, key = ''] = await until('the key of the demonstration', () => KEY_OF_WELCOME.exec(printed.stdout));
      return work({ url, key, requests: () => requestsIn(printed.stdout) });
    }),
  );
}

const isDeletion = ({ request }: { request: string }) => request.startsWith('DELETE ');

/** "GET /api/key 200" for each request to the API in the complete lines of the log. */
function requestsIn(log: string): string[] {
  const lines = log.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{') && line.includes('"path":"/api/')).map(requestIn);
}

test.each(samples)('the sample of $operationId in $label works as pasted on a fresh demonstration', async (sample) => {
  const { printed, requests } = await pastedIn(sample.label);
  expect(requests).toContain(sample.request);
  // curl prints the body of the response, and a deletion has none.
  if (!isDeletion(sample)) expect(printed.get(sample.operationId)).not.toBe('');
});

test('the samples in TypeScript compile', async () => {
  const ofOurs = samples.filter(({ label }) => label === 'TypeScript');
  const files = ofOurs.map(({ operationId }) => `compiled/${operationId}.ts`);
  for (const [i, file] of files.entries()) await write(join(scratch.folder, file), ofOurs[i]?.source ?? '');
  // The declarations of the client are checked with the samples of its README.
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

// The lint has a list of tokens that the languages share; Python is one that programs use.
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
