import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, type Operation, operationsOf, schemaNameOf } from '../../../src/contract/document.ts';
import { root } from '../../tool.ts';
import type { Fault } from '../fault.ts';

// Faults that can be made with every resource of the contract. A new resource is covered without a change here.

const document: Json = JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8'));
/** In the order in which they are applied. */
const migrations = globSync('prisma/migrations/*/migration.sql', { cwd: root })
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

const creations = operationsOf(document, { keepNamedSchemas: true }).filter(
  ({ method, responses }) => method === 'post' && responses[201] !== undefined,
);

/** For each resource, by the operation that creates its rows. */
export const RESOURCE_FAULTS: readonly Fault[] = creations.flatMap((creation) => [
  withoutVersionTrigger(creation),
  withClosedResponse(creation),
  withoutPermission(creation),
  ...withoutCheck(creation),
  ...(creation.parameters?.some(({ name }) => name === 'Idempotency-Key') ? [withoutIdempotencyKey(creation)] : []),
]);

function withoutVersionTrigger({ path }: Operation): Fault {
  const table = tableOf(path);
  const byFunction = `SELECT "bump_versions_with"('${table}');`;
  const byHand = `ALTER TABLE "${table}" ENABLE ALWAYS TRIGGER "${table}_version_insert";`;
  const own = migrations.find(({ text }) => text.includes(byFunction));
  const file = own?.file ?? fileWith(byHand);
  return {
    title: `a new row of ${table} does not increase the version`,
    edits: [
      own === undefined
        ? { file, find: byHand, replace: `DROP TRIGGER "${table}_version_insert" ON "${table}";` }
        : { file, find: byFunction, replace: '' },
    ],
    caughtBy: 'test/contract/cached-tables.test.ts',
  };
}

/** A client that validates it would refuse the next version with a new field. */
function withClosedResponse({ path, responses }: Operation): Fault {
  const schema = schemaNameOf(responses[201]?.content?.['application/json']?.schema ?? {});
  return {
    title: `a response with a row of ${tableOf(path)} allows no new fields`,
    edits: [
      {
        file: `openapi/components/schemas/${schema}.yaml`,
        find: 'type: object\ndescription:',
        replace: 'type: object\nadditionalProperties: false\ndescription:',
      },
    ],
    caughtBy: 'lint',
  };
}

function withoutPermission({ path, security }: Operation): Fault {
  const permission = security.flatMap((each) => Object.values(each).flat())[0];
  const [last] = migrations
    .filter(({ text }) => text.includes('ADD CONSTRAINT "api_keys_permissions_check"'))
    .reverse();
  return {
    title: `the database refuses keys that may write ${tableOf(path)}`,
    edits: [{ file: last?.file ?? '', find: `'${permission}'`, replace: `'${permission}s'` }],
    caughtBy: 'test/contract/database.test.ts',
  };
}

/** Empty if the rows of the resource have no name. */
function withoutCheck({ path }: Operation): readonly Fault[] {
  const table = tableOf(path);
  const check = new RegExp(`ADD CONSTRAINT "${table}_name_check" CHECK .*;`);
  return migrations.flatMap(({ file, text }) =>
    (check.exec(text) ?? []).map((find) => ({
      title: `the database accepts rows of ${table} with an empty name`,
      edits: [{ file, find, replace: `ADD CONSTRAINT "${table}_name_check" CHECK (TRUE);` }],
      caughtBy: 'test/contract/database.test.ts' as const,
    })),
  );
}

function withoutIdempotencyKey({ path }: Operation): Fault {
  return {
    title: `charter-client retries the creation in ${tableOf(path)} without an Idempotency-Key`,
    edits: [{ file: 'src/client/parameters.ts', find: `'${path}': true`, replace: `'${path}/': true` }],
    caughtBy: 'types',
  };
}

function tableOf(path: string): string {
  return path.split('/').at(-1) ?? '';
}

function fileWith(text: string): string {
  const found = migrations.find((each) => each.text.includes(text));
  if (found === undefined) throw new Error(`No migration has: ${text}`);
  return found.file;
}
