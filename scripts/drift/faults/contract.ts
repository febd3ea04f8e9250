import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../tool.ts';
import type { Edit, Fault } from '../fault.ts';

const LIST = 'openapi/paths/parent_programs.yaml';
const ONE = 'openapi/paths/parent_programs_{id}.yaml';
const KEY = 'openapi/paths/key.yaml';
const DELETED = 'openapi/webhooks/parent_program.deleted.yaml';
const LIMIT = 'openapi/components/parameters/Limit.yaml';
const MINIMAL = 'openapi/components/examples/ParentProgramMinimal.yaml';
/** The last published version, which the release check compares the contract with. */
const LAST = readdirSync(join(root, 'openapi/released'))
  .map((file) => file.replace('.yaml', ''))
  .sort(new Intl.Collator('en', { numeric: true }).compare)
  .at(-1);
const RELEASED = `openapi/released/${LAST}.yaml`;
const { version: VERSION }: { version: string } = JSON.parse(
  readFileSync(join(root, 'generated/openapi.json'), 'utf8'),
).info;
const withVersion = (version: string): Edit => ({
  file: 'openapi/openapi.yaml',
  find: `version: ${VERSION}`,
  replace: `version: ${version}`,
});

/** What a breaking change requires, so that the release check accepts it. */
const MAJOR_RELEASE = withVersion(`${Number(VERSION.split('.')[0]) + 1}.0.0`);

const nameUpTo = (characters: number) =>
  ['ParentProgram', 'ParentProgramCreate', 'ParentProgramUpdate'].map((schema) => ({
    file: `openapi/components/schemas/${schema}.yaml`,
    find: 'maxLength: 200',
    replace: `maxLength: ${characters}`,
  }));

/** Faults in the contract, in its generated and published copies, and in its version. */
export const CONTRACT_FAULTS: readonly Fault[] = [
  {
    title: 'an example has a value of another type',
    edits: [{ file: MINIMAL, find: 'metadata: {}', replace: 'metadata: []' }],
    caughtBy: 'lint',
  },
  {
    title: 'an example has a field that its schema does not',
    edits: [{ file: MINIMAL, find: 'metadata: {}', replace: 'metadata: {}\n  status: active' }],
    caughtBy: 'lint',
  },
  {
    title: 'an operation does not require a key',
    edits: [{ file: LIST, find: 'security:\n    - apiKey: ["parent_programs:read"]', replace: 'security: []' }],
    caughtBy: 'lint',
  },
  {
    title: 'a string in the contract has no maximum length',
    edits: [{ file: 'openapi/components/schemas/Key.yaml', find: '    maxLength: 100\n', replace: '' }],
    caughtBy: 'lint',
  },
  {
    title: 'an error response is missing from the contract',
    edits: [
      {
        file: KEY,
        find: '    "503":\n      $ref: ../components/responses/ServiceUnavailableException.yaml\n',
        replace: '',
      },
    ],
    afterwards: 'generate',
    caughtBy: 'release',
  },
  {
    title: 'a description is misspelt',
    edits: [{ file: ONE, find: 'Permanently deletes', replace: 'Permanently deltes' }],
    caughtBy: 'lint',
  },
  {
    title: 'a bound of the contract changes without new generated files',
    edits: [{ file: LIMIT, find: 'maximum: 100', replace: 'maximum: 200' }],
    caughtBy: 'generated',
  },
  {
    title: 'the published YAML is edited by hand',
    edits: [
      {
        file: 'generated/openapi.yaml',
        find: 'summary: List parent programs\n',
        replace: 'summary: All parent programs\n',
      },
    ],
    caughtBy: 'generated',
  },
  {
    title: 'the published JSON is edited by hand',
    edits: [
      {
        file: 'generated/openapi.json',
        find: '"summary": "List parent programs"',
        replace: '"summary": "All parent programs"',
      },
    ],
    caughtBy: 'generated',
  },
  {
    title: 'the generated types are edited by hand',
    edits: [
      {
        file: 'generated/openapi.d.ts',
        find: '// Generated from openapi/ by "npm run generate". Do not edit.',
        replace: '// Types.',
      },
    ],
    caughtBy: 'generated',
  },
  {
    title: 'a bound of the contract becomes narrower under the same version',
    edits: [{ file: LIMIT, find: 'minimum: 1\n', replace: 'minimum: 2\n' }],
    afterwards: 'generate',
    caughtBy: 'release',
  },
  {
    title: 'an operation requires another permission under the same version',
    edits: [{ file: KEY, find: 'apiKey: []', replace: 'apiKey: ["parent_programs:read"]' }],
    afterwards: 'generate',
    caughtBy: 'release',
  },
  {
    title: 'a response header is missing from the contract',
    edits: [
      {
        file: ONE,
        find: '      description: The parent program.\n      headers:\n        X-Request-Id:\n          $ref: ../components/headers/XRequestId.yaml\n        Cache-Control:\n          $ref: ../components/headers/CacheControlRevalidate.yaml\n        RateLimit-Policy:\n          $ref: ../components/headers/RateLimitPolicy.yaml\n        RateLimit:\n          $ref: ../components/headers/RateLimit.yaml\n        ETag:\n          $ref: ../components/headers/ETag.yaml\n',
        replace:
          '      description: The parent program.\n      headers:\n        X-Request-Id:\n          $ref: ../components/headers/XRequestId.yaml\n        Cache-Control:\n          $ref: ../components/headers/CacheControlRevalidate.yaml\n        RateLimit-Policy:\n          $ref: ../components/headers/RateLimitPolicy.yaml\n        RateLimit:\n          $ref: ../components/headers/RateLimit.yaml\n',
      },
    ],
    afterwards: 'generate',
    caughtBy: 'release',
  },
  {
    title: 'a webhook requires the API key',
    edits: [{ file: DELETED, find: '  security: []\n', replace: '' }],
    caughtBy: 'lint',
  },
  {
    title: 'an event allows no new fields',
    edits: [
      {
        file: 'openapi/components/schemas/ParentProgramDeletedEvent.yaml',
        find: 'type: object\ndescription:',
        replace: 'type: object\nadditionalProperties: false\ndescription:',
      },
    ],
    caughtBy: 'lint',
  },
  {
    title: 'a webhook is missing from the contract',
    edits: [
      {
        file: 'openapi/openapi.yaml',
        find: '  webhook.test:\n    $ref: webhooks/webhook.test.yaml\n',
        replace: '',
      },
    ],
    afterwards: 'generate',
    caughtBy: 'release',
  },
  {
    title: 'an event lacks its data',
    edits: [
      {
        file: 'openapi/components/schemas/ParentProgramDeletedEvent.yaml',
        find: 'required: [id, type, timestamp, data]',
        replace: 'required: [id, type, timestamp]',
      },
    ],
    afterwards: 'generate',
    caughtBy: 'release',
  },
  {
    title: 'a published version is edited',
    edits: [{ file: RELEASED, find: 'operationId: getKey', replace: 'operationId: getCallingKey' }],
    caughtBy: 'release',
  },
  {
    title: 'a dry run of a release generates files',
    edits: [{ file: 'scripts/run.mjs', find: " && !rest.includes('--dry-run')", replace: '' }],
    caughtBy: 'test/process/generated-once.test.ts',
  },
  {
    title: 'a published file has another version inside',
    edits: [{ file: RELEASED, find: `  version: ${LAST}`, replace: `  version: ${LAST}1` }],
    caughtBy: 'release',
  },
  {
    title: 'the version of the contract is too high for its changes',
    edits: [withVersion('0.9.0')],
    afterwards: 'generate',
    caughtBy: 'release',
  },
  {
    title: 'the contract offers a sort order without a handler',
    edits: [{ file: 'openapi/components/parameters/Sort.yaml', find: 'enum: [', replace: 'enum: [external_id, ' }],
    afterwards: 'generate',
    caughtBy: 'types',
  },
  {
    title: 'the contract has a bound that the database does not have',
    edits: [...nameUpTo(300), MAJOR_RELEASE],
    afterwards: 'generate and release',
    caughtBy: 'test/contract/database.test.ts',
  },
  {
    title: 'the contract lets a read-only key write',
    edits: [
      {
        file: LIST,
        find: 'security:\n    - apiKey: ["parent_programs:write"]',
        replace: 'security:\n    - apiKey: ["parent_programs:read"]',
      },
      MAJOR_RELEASE,
    ],
    afterwards: 'generate and release',
    caughtBy: 'test/contract/contract.test.ts',
  },
  {
    title: 'a lint rule disables the compiler',
    edits: [
      {
        file: 'openapi/lint/walk.ts',
        find: '  const member = node[name];\n',
        replace: '  const member: any = node[name];\n',
      },
    ],
    caughtBy: 'style',
  },
];
