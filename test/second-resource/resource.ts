// A second resource, `child_programs`, as a developer would add it to this tree: new files, and edits of existing ones. It
// is not part of the product.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Edit } from '../../scripts/drift/fault.ts';

const FILES = join(import.meta.dirname, 'files');

export type NewFile = { readonly path: string; readonly text: string };

/** A file of TypeScript ends in ".txt" here, because its imports only resolve in its place. */
export const newFiles: readonly NewFile[] = readdirSync(FILES, { recursive: true, encoding: 'utf8' })
  .map((name) => join(FILES, name))
  .filter((file) => statSync(file).isFile())
  .map((file) => ({ path: relative(FILES, file).replace(/\.txt$/, ''), text: readFileSync(file, 'utf8') }));

const before = (file: string, anchor: string, text: string): Edit => ({
  file,
  find: anchor,
  replace: `${text}${anchor}`,
});
const after = (file: string, anchor: string, text: string): Edit => ({
  file,
  find: anchor,
  replace: `${anchor}${text}`,
});

const HANDLERS = 'src/api/handlers/index.ts';
const SCHEMA = 'prisma/schema.prisma';
const SCOPES = 'openapi/components/headers/WwwAuthenticatePermission.yaml';

export const edits: readonly Edit[] = [
  {
    file: 'openapi/guides/scaling.md',
    find: 'Those of\n  `parent_programs` and',
    replace: 'Those of\n  `child_programs` write versions, and those of\n  `parent_programs` and',
  },
  after(
    'openapi/openapi.yaml',
    '    $ref: paths/parent_programs_{id}.yaml\n',
    '  /api/child_programs:\n    $ref: paths/child_programs.yaml\n  /api/child_programs/{id}:\n    $ref: paths/child_programs_{id}.yaml\n',
  ),
  before(
    'openapi/openapi.yaml',
    '  - name: Key\n',
    '  - name: Child programs\n    description: List, create and get the child programs of your parent programs.\n',
  ),
  {
    file: 'openapi/components/schemas/Permission.yaml',
    find: '["parent_programs:read", "parent_programs:write"]',
    replace: '["parent_programs:read", "parent_programs:write", "child_programs:read", "child_programs:write"]',
  },
  {
    file: 'openapi/components/schemas/Permission.yaml',
    find: 'to create, update and delete them. Later',
    replace:
      'to create, update and delete them. `child_programs:read` and\n  `child_programs:write` allow you to list and get, and to create, child programs. Later',
  },
  { file: 'openapi/components/schemas/Key.yaml', find: 'maxItems: 2', replace: 'maxItems: 4' },
  after(
    SCOPES,
    `    - 'Bearer realm="charter", error="insufficient_scope", scope="parent_programs:write"'\n`,
    ['read', 'write']
      .map((right) => `    - 'Bearer realm="charter", error="insufficient_scope", scope="child_programs:${right}"'\n`)
      .join(''),
  ),
  after(
    'openapi/components/responses/NotFoundException.yaml',
    '        $ref: ../examples/NotFoundParentProgram.yaml\n',
    '      no_such_child_program:\n        $ref: ../examples/NotFoundChildProgram.yaml\n',
  ),
  {
    file: 'src/domain/role.ts',
    find: "['parent_programs:read', 'parent_programs:write'] as const",
    replace:
      "[\n  'parent_programs:read',\n  'parent_programs:write',\n  'child_programs:read',\n  'child_programs:write',\n] as const",
  },
  before(
    HANDLERS,
    "import { getEvent, listEvents } from './events.ts';\n",
    "import { createChildProgram, getChildProgram, listChildPrograms } from './child-programs.ts';\n",
  ),
  before(HANDLERS, '  getKey,\n', '  listChildPrograms,\n  createChildProgram,\n  getChildProgram,\n'),
  {
    file: 'src/client/parameters.ts',
    find: "{ '/api/parent_programs': true }",
    replace: "{\n  '/api/parent_programs': true,\n  '/api/child_programs': true,\n}",
  },
  after(
    'prisma/seed.ts',
    '  if (firstId === undefined) return;\n',
    `  const id = '019c2291-7ae1-7c3f-8a02-51b6a0de4c18';
  const shown = { id, parentProgramId: firstId, name: 'Autumn intake', isOpen: true };
  await tx.childProgram.create({ data: { ...shown, organizationId } });
`,
  ),
  after(SCHEMA, '  parentPrograms  ParentProgram[]\n', '  childPrograms   ChildProgram[]\n'),
  {
    file: SCHEMA,
    find: '  organization Organization @relation(fields: [organizationId], references: [id], onDelete: Restrict)\n\n  @@id([organizationId, id])\n  @@unique([organizationId, externalId])\n',
    replace:
      '  organization  Organization   @relation(fields: [organizationId], references: [id], onDelete: Restrict)\n  childPrograms ChildProgram[]\n\n  @@id([organizationId, id])\n  @@unique([organizationId, externalId])\n',
  },
  before(
    SCHEMA,
    '/// Results of create requests with an Idempotency-Key, to repeat the response.\n',
    `model ChildProgram {
  organizationId  String   @map("organization_id") @db.Uuid
  /// UUIDv7.
  id              String   @db.Uuid
  parentProgramId String   @map("parent_program_id") @db.Uuid
  name            String   @db.VarChar(200)
  description     String?  @db.VarChar(10000)
  /// Null: no limit.
  seats           Int?
  isOpen          Boolean  @map("is_open")
  createdAt       DateTime @default(dbgenerated("statement_timestamp()")) @map("created_at") @db.Timestamptz(3)
  updatedAt       DateTime @default(dbgenerated("statement_timestamp()")) @map("updated_at") @db.Timestamptz(3)

  organization  Organization  @relation(fields: [organizationId], references: [id], onDelete: Restrict)
  parentProgram ParentProgram @relation(fields: [organizationId, parentProgramId], references: [organizationId, id], onDelete: Cascade)

  @@id([organizationId, id])
  @@index([organizationId, parentProgramId])
  @@index([organizationId, createdAt, id])
  @@index([organizationId, updatedAt, id])
  @@index([organizationId, name, id])
  @@map("child_programs")
}

`,
  ),
];
