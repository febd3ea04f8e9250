// Lints and bundles the contract, and generates the types, the Postman collection and the Prisma client. See --help.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { bundleTo } from '../bundle.ts';
import { runMain } from '../command-line.ts';
import { lintContract } from '../lint/contract.ts';
import { problemsText } from '../lint/problem.ts';
import { beginStamp } from '../stamps.mjs';
import { root, runTool } from '../tool.ts';

const COMMITTED = ['openapi.yaml', 'openapi.json', 'openapi.d.ts'];
const UNCOMMITTED = ['openapi.dereferenced.json', 'postman.json'];
const SOURCE = join(root, 'openapi/openapi.yaml');
const REMEDY = 'The contract cannot be bundled. Fix the problem above, in openapi/.';

const HELP = `npm run generate                   generates all files in generated/
npm run generate -- --check        fails if a committed file is stale, and writes none
npm run generate -- --uncommitted  generates only the files that are never committed
`;
const OPTIONS = {
  check: { type: 'boolean', default: false },
  uncommitted: { type: 'boolean', default: false },
} as const;

const folder = await mkdtemp(join(tmpdir(), 'charter-generate-'));
await runMain(OPTIONS, HELP, generate);
await rm(folder, { recursive: true, force: true });

async function generate({ check, uncommitted }: { check: boolean; uncommitted: boolean }): Promise<void> {
  // Functions that mark the files as fresh. They are called at the end, when the files have been generated or, with "--check",
  // have been found unchanged.
  const stamps = [...(uncommitted ? [] : [beginStamp('committed')]), ...(check ? [] : [beginStamp('uncommitted')])];
  // "npm test" passes "--check" or "--uncommitted" and lints in a separate check, so nothing is linted with these options.
  const linted = check || uncommitted ? Promise.resolve() : lint();
  await Promise.all([
    ...(check ? [] : [generatePrismaClient()]),
    ...(uncommitted ? [] : [linted.then(bundle).then(generateTypes)]),
    ...(check ? [] : [linted.then(dereference).then(generatePostmanCollection)]),
  ]);
  if (!uncommitted) await Promise.all(COMMITTED.map(check ? compare : publish));
  if (!check) await Promise.all(UNCOMMITTED.map(publish));
  for (const stamp of stamps) stamp();
  const done = uncommitted ? 'the files that are never committed' : 'the contract, its types and the Prisma client';
  console.log(check ? 'The generated files are up to date.' : `Generated ${done}.`);
}

/** Lints the contract before it is bundled, because the messages of the linter are more helpful than those of the bundler. */
async function lint(): Promise<void> {
  const problems = await lintContract();
  if (problems.length > 0) throw new Error(problemsText(problems));
}

async function bundle(): Promise<void> {
  await Promise.all([write('openapi.json', bundleTo('json', SOURCE)), write('openapi.yaml', bundleTo('yaml', SOURCE))]);
}

/** Writes the contract without `$ref`, for tools that cannot resolve `$ref`. */
async function dereference(): Promise<void> {
  await write('openapi.dereferenced.json', bundleTo('json', SOURCE, ['--dereferenced']));
}

async function write(name: string, bundling: Promise<string>): Promise<void> {
  const text = await bundling.catch((error) => {
    throw new Error(`${error instanceof Error ? error.message : error}\n${REMEDY}`);
  });
  await writeFile(join(folder, name), text);
}

async function generateTypes(): Promise<void> {
  const contract = JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8'));
  // A field with a default is optional in requests.
  const options = { defaultNonNullable: false };
  const ast = await openapiTS(JSON.stringify(withInlineHeaders(contract)), options);
  await writeFile(
    join(folder, 'openapi.d.ts'),
    `// Generated from openapi/ by "npm run generate". Do not edit.\n${astToString(ast)}${exampleTypesOf(contract)}`,
  );
}

/** Returns an interface with the names of the examples, by operation and status. openapi-typescript leaves out these names. */
function exampleTypesOf({ paths, components }: Contract): string {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const lines = operations.flatMap(({ operationId, responses = {} }) => {
    const statuses = Object.entries(responses).map(([status, response]) => {
      const shared = components.responses[String(response.$ref).replace('#/components/responses/', '')];
      const names = Object.keys((shared ?? response).content?.['application/json']?.examples ?? {});
      return `        ${status}: ${names.map((name) => JSON.stringify(name)).join(' | ') || 'never'};\n`;
    });
    return operationId === undefined ? [] : [`    ${operationId}: {\n${statuses.join('')}    };\n`];
  });
  return `export interface exampleNames {\n${lines.join('')}}\n`;
}

/**
 * Replaces each `$ref` to an optional header with the header, because openapi-typescript makes every header with a `$ref`
 * required.
 */
function withInlineHeaders(contract: Contract): Contract {
  const { headers: shared, responses } = contract.components;
  const inline = (response: ResponseObject) => {
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const target = shared[String(header.$ref).replace('#/components/headers/', '')];
      if (response.headers !== undefined && target !== undefined && target.required !== true) {
        response.headers[name] = target;
      }
    }
  };
  const operations = Object.values(contract.paths).flatMap((path) => Object.values(path));
  for (const each of Object.values(responses)) inline(each);
  for (const { responses = {} } of operations) for (const each of Object.values(responses)) inline(each);
  return contract;
}

type HeaderObject = { readonly $ref?: string; readonly required?: boolean };
type ResponseObject = {
  readonly $ref?: string;
  readonly headers?: Record<string, HeaderObject>;
  readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, unknown>> }>>;
};
type OperationObject = { readonly operationId?: string; readonly responses?: Record<string, ResponseObject> };
/** The parts of a bundled document that contain headers and examples. */
type Contract = {
  readonly paths: Record<string, Record<string, OperationObject>>;
  readonly components: {
    readonly headers: Record<string, HeaderObject>;
    readonly responses: Record<string, ResponseObject>;
  };
};

async function generatePostmanCollection(): Promise<void> {
  // The module is loaded only here, because loading takes a third of a second, and "--check" does not need the module.
  const { toPostmanCollection } = await import('./postman.ts');
  const contract = JSON.parse(await readFile(join(folder, 'openapi.dereferenced.json'), 'utf8'));
  await writeFile(join(folder, 'postman.json'), `${JSON.stringify(await toPostmanCollection(contract), null, 2)}\n`);
}

async function generatePrismaClient(): Promise<void> {
  // Without this setting, Prisma would download a schema engine, which this command does not use. Prisma accepts any executable
  // file.
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  };
  await runTool('prisma', ['generate'], 'The Prisma client cannot be generated. Fix prisma/schema.prisma.', env);
}

async function compare(name: string): Promise<void> {
  const [fresh, committed] = await Promise.all([
    readFile(join(folder, name), 'utf8'),
    readFile(join(root, 'generated', name), 'utf8').catch(() => ''),
  ]);
  if (fresh !== committed)
    throw new Error(`generated/${name} is stale. Run "npm run generate" and commit what it writes.`);
}

async function publish(name: string): Promise<void> {
  await writeFile(join(root, 'generated', name), await readFile(join(folder, name)));
}
