import type { Fault } from '../fault.ts';

const PROGRAMS = 'src/api/handlers/parent-programs.ts';
const LIST_PAGE = 'src/api/list-page.ts';
const PAGES = 'src/store/parent-program-list.ts';
const KEY = 'src/api/handlers/key.ts';
const EXCEPTIONS = 'src/api/exceptions.ts';

/** Faults in handlers: what they accept or return differs from the contract. */
export const HANDLER_FAULTS: readonly Fault[] = [
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
    title: 'a handler returns an object as a string',
    edits: [
      { file: PROGRAMS, find: 'metadata: program.metadata,', replace: 'metadata: JSON.stringify(program.metadata),' },
    ],
    caughtBy: 'types',
  },
  {
    title: 'a handler leaves out null fields',
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
    title: 'a handler returns another status',
    edits: [{ file: PROGRAMS, find: 'status: 201,', replace: 'status: 200,' }],
    caughtBy: 'types',
  },
  {
    title: 'a handler forgets a header',
    edits: [{ file: PROGRAMS, find: '{ Location: `${PATH}/${program.id}` }', replace: '{}' }],
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
    title: 'a handler returns a body with a 204',
    edits: [{ file: PROGRAMS, find: 'headers: {}, body: null', replace: 'headers: {}, body: { deleted: true }' }],
    caughtBy: 'types',
  },
  {
    title: 'an operation has no handler',
    edits: [
      {
        file: 'src/api/handlers/index.ts',
        find: '  getKey,\n};',
        replace: '};',
      },
    ],
    caughtBy: 'types',
  },
  {
    title: 'a handler reads a parameter that is not in the contract',
    edits: [{ file: PROGRAMS, find: 'const { search, external_id', replace: 'const { offset, search, external_id' }],
    caughtBy: 'types',
  },
  {
    title: 'a handler uses an organization from the request',
    edits: [
      {
        file: PROGRAMS,
        find: 'getRow(db, caller.scope, ',
        replace: 'getRow(db, { organizationId: path.id }, ',
      },
    ],
    caughtBy: 'types',
  },
  {
    title: 'an error code has no status',
    edits: [{ file: EXCEPTIONS, find: "  conflict: { status: 409, schema: 'ConflictException' },\n", replace: '' }],
    caughtBy: 'types',
  },
  {
    title: 'an error code has a schema that is not in the contract',
    edits: [{ file: EXCEPTIONS, find: "schema: 'ConflictException'", replace: "schema: 'DuplicateException'" }],
    caughtBy: 'types',
  },
  {
    title: 'a handler hides its result from the compiler',
    edits: [
      {
        file: PROGRAMS,
        find: 'headers: { Location: `${PATH}/${program.id}` }, body: present(program) };',
        replace: 'headers: { Location: `${PATH}/${program.id}` }, body: present(program) as any };',
      },
    ],
    caughtBy: 'style',
  },
  {
    title: 'an error code has the status of another exception',
    edits: [
      { file: EXCEPTIONS, find: 'precondition_failed: { status: 412,', replace: 'precondition_failed: { status: 409,' },
    ],
    caughtBy: 'test/contract/contract.test.ts',
  },
  {
    title: 'a handler returns a string instead of null',
    edits: [
      {
        file: LIST_PAGE,
        find: "['Page'] = { limit, next_cursor: next }",
        replace: "['Page'] = { limit, next_cursor: next ?? '' }",
      },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'a handler returns one field for another',
    edits: [{ file: PROGRAMS, find: 'updated_at: program.updatedAt,', replace: 'updated_at: program.createdAt,' }],
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'a handler accepts a field and drops it',
    edits: [
      {
        file: PROGRAMS,
        find: 'const content = { name, description, externalId, metadata };',
        replace: 'const content = { name, description, externalId: null, metadata };',
      },
    ],
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'the last page has a Link header',
    edits: [
      {
        file: LIST_PAGE,
        find: 'headers: next === null ? {} : {',
        replace: 'headers: {',
      },
      {
        file: LIST_PAGE,
        find: 'nextPage(path, query, next)',
        replace: "nextPage(path, query, next ?? '')",
      },
    ],
    caughtBy: 'test/api/list-paging.test.ts',
  },
  {
    title: 'the parameter search is ignored',
    edits: [{ file: PROGRAMS, find: '...page, search, externalId', replace: '...page, externalId' }],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'the parameter updated_since is ignored',
    edits: [
      {
        file: PROGRAMS,
        find: 'since === undefined ? undefined : readInstant(since)',
        replace: "since === undefined ? readInstant(since ?? '') : undefined",
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'a sort order is reversed',
    edits: [
      {
        file: LIST_PAGE,
        find: "'-updated_at': { sortField: 'updated_at', descending: true }",
        replace: "'-updated_at': { sortField: 'updated_at', descending: false }",
      },
    ],
    caughtBy: 'test/api/list-paging.test.ts',
  },
  {
    title: 'an inclusive bound of the contract is exclusive in the search',
    edits: [
      {
        file: PAGES,
        find: 'bytesBefore(updatedSince)',
        replace: 'bytesOfInstant(updatedSince.toISOString())',
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'updated_since leaves out its own instant in the default order',
    edits: [
      {
        file: 'src/store/parent-program-changes.ts',
        find: '= start and updated_at >= ',
        replace: '= start and updated_at > ',
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'updated_since leaves out the programs of a period in which very many have changed',
    edits: [
      {
        file: 'src/store/parent-program-changes.ts',
        find: 'where has_many and',
        replace: 'where false and has_many and',
      },
    ],
    caughtBy: 'test/store/changes.test.ts',
  },
  {
    title: 'the programs of a list lack a field',
    edits: [
      { file: 'src/store/table.ts', find: "shown: ['id', ...columns,", replace: "shown: ['id', ...columns.slice(1)," },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'the times of a list have another format',
    edits: [
      {
        file: 'src/store/list.ts',
        find: 'rfc3339(json.slice(created + CREATED.length, updated))',
        replace: 'json.slice(created + CREATED.length, updated)',
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
];
