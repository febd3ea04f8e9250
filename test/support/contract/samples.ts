import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readContract } from '../../../scripts/docs/contract.ts';
import { samplesOf } from '../../../scripts/docs/samples/languages.ts';
import { requestOf, targetOf } from '../../../scripts/docs/samples/request.ts';
import { findOnPath, PROGRAMS_REMEDY } from '../../../scripts/programs.mjs';
import { firstExample, type Operation, successOf } from '../../../src/contract/document.ts';
import type { TestDashboard } from '../dashboard/dashboard-server.ts';
import { createTestOrganization } from '../servers/server.ts';
import { until } from '../wait.ts';
import { createItem, lists, tableOf } from './resources.ts';

const { operations } = await readContract(join(import.meta.dirname, '../../../generated/openapi.json'));

/** The id of the first row in the contract's examples. */
export function shownIdOf(path: string): string {
  const parameters = operations.filter((each) => each.path === path).flatMap((each) => each.parameters ?? []);
  return String(firstExample(parameters.find(({ name }) => name === 'id')?.examples ?? {}));
}

export type RunnableSample = {
  readonly operationId: string;
  readonly label: string;
  readonly source: string;
  /** The log line that the server must have written: "GET /api/key 200". */
  readonly request: string;
};

export const samples: readonly RunnableSample[] = operations.flatMap(runnable);

/** The samples of an operation whose example body is this one. */
export function samplesWithBody(operationId: string, body: unknown): readonly RunnableSample[] {
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

/** The command that a reader would type, and the file into which they would paste the sample. */
const RUNNERS: Readonly<Record<string, readonly [program: string, extension: string, ...parameters: string[]]>> = {
  curl: ['bash', 'sh'],
  TypeScript: [process.execPath, 'ts'],
  JavaScript: [process.execPath, 'mjs'],
  Python: ['python3', 'py'],
  Go: ['go', 'go', 'run'],
  PHP: ['php', 'php'],
};

/** Runs the sample unchanged, in an organization with the data it needs. Returns its output; throws if it fails. */
export async function runSample(dashboard: TestDashboard, sample: RunnableSample, folder: string): Promise<string> {
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
  /** Where the sample runs; the client is installed there. */
  readonly folder: string;
};

/** Runs the sample unchanged, as a reader would. Returns its output; throws if it fails. */
export async function pasteSample(
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

/** "GET /api/key 200" from a line of the server's log. */
export function requestIn(line: string): string {
  const { method, path, status } = JSON.parse(line);
  return `${method} ${path} ${status}`;
}
