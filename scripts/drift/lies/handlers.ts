import type { Lie } from '../lie.ts';

const PROGRAMS = 'src/api/handlers/parent-programs.ts';
const PAGES = 'src/store/parent-program-list.ts';
const KEY = 'src/api/handlers/key.ts';
const EXCEPTIONS = 'src/api/exceptions.ts';

/** What a handler returns, or takes, is not what the contract shows. */
export const HANDLER_LIES: readonly Lie[] = [
  {
    title: 'a handler drops a field',
    edits: [{ file: KEY, find: '    name: caller.keyName,\n', replace: '' }],
    caughtBy: 'types',
  },
  {
    title: 'a handler adds a field',
    edits: [{ file: KEY, find: 'id: caller.keyId,', replace: 'id: caller.keyId,\n    note: caller.keyName,' }],
    caughtBy: 'types',
  },
  {
    title: 'a handler answers an object as text',
    edits: [
      { file: PROGRAMS, find: 'metadata: program.metadata,', replace: 'metadata: JSON.stringify(program.metadata),' },
    ],
    caughtBy: 'types',
  },
  {
    title: 'a handler leaves out what is null',
    edits: [
      {
        file: PROGRAMS,
        find: 'description: program.description,',
        replace: 'description: program.description ?? undefined,',
      },
    ],
    caughtBy: 'types',
  },
  {
    title: 'a handler answers another status',
    edits: [{ file: PROGRAMS, find: 'status: 201,', replace: 'status: 200,' }],
    caughtBy: 'types',
  },
  {
    title: 'a handler forgets a header',
    edits: [{ file: PROGRAMS, find: '{ Location: `/api/parent_programs/${program.id}` }', replace: '{}' }],
    caughtBy: 'types',
  },
  {
    title: 'a handler adds a header',
    edits: [
      { file: PROGRAMS, find: 'status: 204, headers: {}', replace: "status: 204, headers: { Location: '/api' }" },
    ],
    caughtBy: 'types',
  },
  {
    title: 'a handler answers a body where there is none',
    edits: [{ file: PROGRAMS, find: 'headers: {}, body: null', replace: 'headers: {}, body: { deleted: true }' }],
    caughtBy: 'types',
  },
  {
    title: 'an operation has no handler',
    edits: [
      {
        file: 'src/api/handlers/index.ts',
        find: '  deleteParentProgram,\n  getKey,',
        replace: '  deleteParentProgram,',
      },
    ],
    caughtBy: 'types',
  },
  {
    title: 'a handler reads a parameter that the contract does not have',
    edits: [{ file: PROGRAMS, find: 'const { limit, cursor, sort,', replace: 'const { limit, offset, cursor, sort,' }],
    caughtBy: 'types',
  },
  {
    title: 'a handler names an organization that it was sent',
    edits: [
      {
        file: PROGRAMS,
        find: 'findParentProgram(db, caller.scope, path.id)',
        replace: 'findParentProgram(db, { organizationId: path.id }, path.id)',
      },
    ],
    caughtBy: 'types',
  },
  {
    title: 'a refusal has no status',
    edits: [{ file: EXCEPTIONS, find: "  conflict: { status: 409, schema: 'ConflictException' },\n", replace: '' }],
    caughtBy: 'types',
  },
  {
    title: 'a refusal has a schema that the contract does not name',
    edits: [{ file: EXCEPTIONS, find: "schema: 'ConflictException'", replace: "schema: 'DuplicateException'" }],
    caughtBy: 'types',
  },
  {
    title: 'a handler hides its answer from the compiler',
    edits: [
      {
        file: PROGRAMS,
        find: 'headers: { Location: `/api/parent_programs/${program.id}` }, body: present(program) };',
        replace: 'headers: { Location: `/api/parent_programs/${program.id}` }, body: present(program) as any };',
      },
    ],
    caughtBy: 'style',
  },
  {
    title: 'a refusal has a status that the contract shows for another',
    edits: [
      { file: EXCEPTIONS, find: 'precondition_failed: { status: 412,', replace: 'precondition_failed: { status: 409,' },
    ],
    caughtBy: 'test/contract/contract.test.ts',
  },
  {
    title: 'a handler answers a text in place of null',
    edits: [
      {
        file: PROGRAMS,
        find: "['page'] = { limit, next_cursor: next }",
        replace: "['page'] = { limit, next_cursor: next ?? '' }",
      },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'a handler answers one field for another',
    edits: [{ file: PROGRAMS, find: 'updated_at: program.updatedAt,', replace: 'updated_at: program.createdAt,' }],
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'a handler takes a field and loses it',
    edits: [
      {
        file: PROGRAMS,
        find: '{ content: { name, description, externalId, metadata }, ',
        replace: '{ content: { name, description, externalId: null, metadata }, ',
      },
    ],
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'a page without a next one has a Link',
    edits: [
      {
        file: PROGRAMS,
        find: 'headers: next === null ? {} : {',
        replace: 'headers: {',
      },
      {
        file: PROGRAMS,
        find: "nextPage('/api/parent_programs', query, next)",
        replace: "nextPage('/api/parent_programs', query, next ?? '')",
      },
    ],
    caughtBy: 'test/api/list-paging.test.ts',
  },
  {
    title: 'the parameter search is ignored',
    edits: [{ file: PROGRAMS, find: '    search,\n    externalId,\n', replace: '    externalId,\n' }],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'the parameter updated_since is ignored',
    edits: [
      {
        file: PROGRAMS,
        find: 'updatedSince: since === undefined ? undefined : readInstant(since),',
        replace: "updatedSince: since === undefined ? readInstant(since ?? '') : undefined,",
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'an order goes the other way',
    edits: [
      {
        file: PROGRAMS,
        find: "'-updated_at': { sortField: 'updated_at', descending: true }",
        replace: "'-updated_at': { sortField: 'updated_at', descending: false }",
      },
    ],
    caughtBy: 'test/api/list-paging.test.ts',
  },
  {
    title: 'a bound of the search is exclusive that the contract says is not',
    edits: [
      {
        file: PAGES,
        find: 'filters.push(`updated_at >= ',
        replace: 'filters.push(`updated_at > ',
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: "a list's programs lack a field",
    edits: [{ file: PAGES, find: 'external_id, metadata, created_at', replace: 'external_id, created_at' }],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: "a list's times are another spelling of the same instant",
    edits: [
      {
        file: PAGES,
        find: 'rfc3339(json.slice(created + CREATED.length, updated))',
        replace: 'json.slice(created + CREATED.length, updated)',
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
];
