import type { Edit, Fault } from '../fault.ts';

const STORE: Readonly<Record<string, Edit>> = {
  findRow: {
    file: 'table.ts',
    find: 'from ${name} where organization_id = $1 and id = $2`',
    replace: 'from ${name} where $1::uuid is not null and id = $2`',
  },
  readRowToChange: {
    file: 'rows.ts',
    find: 'from writer, ${name}\n      where organization_id = ${scope.organizationId}::uuid and id',
    replace: 'from writer, ${name}\n      where id',
  },
  replaceRow: {
    file: 'rows.ts',
    find: 'from writer\n      where refused is null\n        and organization_id = ${scope.organizationId}::uuid and id',
    replace: 'from writer\n      where refused is null\n        and id',
  },
  deleteRow: {
    file: 'rows.ts',
    find: 'using writer\n      where refused is null\n        and organization_id = ${scope.organizationId}::uuid and id',
    replace: 'using writer\n      where refused is null\n        and id',
  },
  listRows: {
    file: 'list.ts',
    find: "['organization_id = $1', ...start",
    replace: "['$1::uuid is not null', ...start",
  },
  'listParentPrograms, by its changes': {
    file: 'parent-program-list.ts',
    find: '(select * from parent_programs where organization_id = $1 and updated_at >= ${since}::timestamptz offset 0)',
    replace:
      '(select $1::uuid as organization_id, id, name, description, external_id, metadata, created_at, updated_at from parent_programs where updated_at >= ${since}::timestamptz offset 0)',
  },
  'listParentPrograms, by its changes in order of creation': {
    file: 'parent-program-changes.ts',
    find: 'from parent_programs where organization_id = $1 and id = changes.id offset 0',
    replace: 'from parent_programs where id = changes.id offset 0',
  },
  checkKeyOfWrite: {
    file: 'key-of-write.ts',
    find: 'from key_and_time_of_write(${organizationId}::uuid, ${keyId}::uuid',
    replace:
      'from key_and_time_of_write((select organization_id from api_keys where ${organizationId} <> id::text and id = ${keyId}::uuid), ${keyId}::uuid',
  },
  listCurrentKeys: {
    file: 'api-keys.ts',
    find: 'where: { organizationId: scope.organizationId, userId, rotatedAt: null, revokedAt: null },\n    select: { id: true, name: true, expiresAt: true, expiredAt: true, rotatedAt: true, revokedAt: true },',
    replace:
      'where: { userId, rotatedAt: null, revokedAt: null },\n    select: { id: true, name: true, expiresAt: true, expiredAt: true, rotatedAt: true, revokedAt: true },',
  },
  recordExpiry: {
    file: 'api-keys.ts',
    find: 'where k.organization_id = o.id and k.id = $2',
    replace: 'where k.id = $2',
  },
  revokeApiKey: {
    file: 'api-keys.ts',
    find: 'where: { organizationId: scope.organizationId, id, userId, rotatedAt: null, revokedAt: null }',
    replace: 'where: { id, userId, rotatedAt: null, revokedAt: null }',
  },
  revokeApiKeysOf: {
    file: 'api-keys.ts',
    find: 'where: { organizationId: scope.organizationId, userId, rotatedAt: null, revokedAt: null },\n    data:',
    replace: 'where: { userId, rotatedAt: null, revokedAt: null },\n    data:',
  },
  replaceApiKey: {
    file: 'api-keys.ts',
    find: 'successor_id = ${successor.id}::uuid\n      where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid',
    replace: 'successor_id = ${successor.id}::uuid\n      where id = ${id}::uuid',
  },
  renameApiKey: {
    file: 'api-keys.ts',
    find: 'select organization_id, id, name from api_keys\n      where organization_id = ${scope.organizationId}::uuid and id',
    replace: 'select organization_id, id, name from api_keys\n      where id',
  },
  findKeyHistory: {
    file: 'key-history.ts',
    find: 'where: { organizationId: scope.organizationId, id, userId }',
    replace: 'where: { id, userId }',
  },
  findLiveSuccessor: {
    file: 'key-history.ts',
    find: 'from api_keys where organization_id = ${scope.organizationId}::uuid and id = ${id}::uuid\n      union\n      select k.id, k.successor_id from api_keys k join line on k.id = line.successor_id\n      where k.organization_id = ${scope.organizationId}::uuid)\n    select k.name, k.key_prefix as prefix\n    from line join api_keys k on k.organization_id = ${scope.organizationId}::uuid and k.id = line.id',
    replace:
      'from api_keys where id = ${id}::uuid\n      union\n      select k.id, k.successor_id from api_keys k join line on k.id = line.successor_id)\n    select k.name, k.key_prefix as prefix\n    from line join api_keys k on k.id = line.id',
  },
  listKeysOf: {
    file: 'key-lists.ts',
    find: "const OF_HOLDER = 'organization_id = $1 and user_id = $2';",
    replace: "const OF_HOLDER = '$1::uuid is not null and user_id = $2';",
  },
  listActiveKeysMadeForOthers: {
    file: 'key-lists.ts',
    find: "'organization_id = $1 and created_by_user_id = $2 and user_id <> $2'",
    replace: "'$1::uuid is not null and created_by_user_id = $2 and user_id <> $2'",
  },
  findListedKey: {
    file: 'key-lists.ts',
    find: 'where k.organization_id = $1 and k.user_id = $2',
    replace: 'where $1::uuid is not null and k.user_id = $2',
  },
  findKeyHolder: {
    file: 'key-holder.ts',
    find: 'where u.organization_id = $1 and u.id = $2',
    replace: 'where $1::uuid is not null and u.id = $2',
  },
  findKeyRotations: {
    file: 'key-rotations.ts',
    find: 'from line join api_keys k on k.organization_id = $1 and k.id = line.id',
    replace: 'from line join api_keys k on k.id = line.id',
  },
  'findKeyRotations, the requests': {
    file: 'key-rotations.ts',
    find: 'where u.organization_id = $1 and u.key_id = k.id',
    replace: 'where u.key_id = k.id',
  },
  findOrganizationUse: {
    file: 'key-uses.ts',
    find: 'from key_uses u where u.organization_id = $1 and ${',
    replace: 'from key_uses u where $1::uuid is not null and ${',
  },
  'findOrganizationUse, the keys': {
    file: 'key-uses.ts',
    find: 'join api_keys k on k.organization_id = $1 and k.id = m.key_id',
    replace: 'join api_keys k on k.id = m.key_id',
  },
  listOrganizationKeys: {
    file: 'organization-keys.ts',
    find: "const conditions = ['k.organization_id = $1'];",
    replace: "const conditions = ['$1::uuid is not null'];",
  },
  'listOrganizationKeys, the user': {
    file: 'organization-keys.ts',
    find: 'where u.organization_id = $1 and ${likeInAnyCase(',
    replace: 'where ${likeInAnyCase(',
  },
  findOrganizationKeyByHash: {
    file: 'organization-keys.ts',
    find: 'where organization_id = $1 and key_hash = $2',
    replace: 'where $1::uuid is not null and key_hash = $2',
  },
  findMatchingKeys: {
    file: 'organization-keys.ts',
    find: 'select k.id from api_keys k where k.organization_id = $1 and ',
    replace: 'select k.id from api_keys k where $1::uuid is not null and ',
  },
  listAuditEvents: {
    file: 'audit-log.ts',
    find: "const conditions = ['organization_id = $1'];",
    replace: "const conditions = ['$1::uuid is not null'];",
  },
  countAuditEvents: {
    file: 'audit-log.ts',
    find: "const conditions = ['organization_id = $1'];",
    replace: "const conditions = ['$1::uuid is not null'];",
  },
  "listAuditEvents, people's names": {
    file: 'audit-log.ts',
    find: 'left join users a on a.organization_id = $1 and a.id',
    replace: 'left join users a on a.id',
  },
  lockUsers: {
    file: 'users.ts',
    find: 'where: { organizationId: scope.organizationId, id: { in: [...ids] } }',
    replace: 'where: { id: { in: [...ids] } }',
  },
  countOtherAdministrators: {
    file: 'users.ts',
    find: "      organizationId: scope.organizationId,\n      role: 'administrator',\n",
    replace: "      role: 'administrator',\n",
  },
  listUsers: {
    file: 'users.ts',
    find: "const conditions = ['organization_id = $1'];",
    replace: "const conditions = ['$1::uuid is not null'];",
  },
  findUser: {
    file: 'users.ts',
    find: 'from users where organization_id = $1 and id = $2`',
    replace: 'from users where $1::uuid is not null and id = $2`',
  },
  findMatchingUsers: {
    file: 'users.ts',
    find: 'as "isWholeEmail" from users where organization_id = $1 and ',
    replace: 'as "isWholeEmail" from users where $1::uuid is not null and ',
  },
  listAdministrators: {
    file: 'users.ts',
    find: "where: { organizationId: scope.organizationId, role: 'administrator', deactivatedAt: null }",
    replace: "where: { role: 'administrator', deactivatedAt: null }",
  },
  endSession: {
    file: 'sessions.ts',
    find: 'where: { organizationId: scope.organizationId, tokenHash: Uint8Array.from(tokenHash) }',
    replace: 'where: { tokenHash: Uint8Array.from(tokenHash) }',
  },
  hasSession: {
    file: 'sessions.ts',
    find: 'userId, organizationId: scope.organizationId }',
    replace: 'userId }',
  },
  endSessionsOf: {
    file: 'sessions.ts',
    find: 'where: { organizationId: scope.organizationId, userId }',
    replace: 'where: { userId }',
  },
  listSessionsOf: {
    file: 'sessions.ts',
    find: 'where organization_id = $1 and user_id = $2 and is_complete',
    replace: 'where $1::uuid is not null and user_id = $2 and is_complete',
  },
  endSessionById: {
    file: 'sessions.ts',
    find: 'where organization_id = ${scope.organizationId}::uuid and user_id = ${userId}::uuid and id',
    replace: 'where ${scope.organizationId}::uuid is not null and user_id = ${userId}::uuid and id',
  },
  endOtherSessionsOf: {
    file: 'sessions.ts',
    find: 'where: { organizationId: scope.organizationId, userId, tokenHash: { not: Uint8Array.from(tokenHash) } }',
    replace: 'where: { userId, tokenHash: { not: Uint8Array.from(tokenHash) } }',
  },
  touchSession: {
    file: 'sessions.ts',
    find: 'where organization_id = $1 and token_hash = $2',
    replace: 'where $1::uuid is not null and token_hash = $2',
  },
  useAccessLink: {
    file: 'access-links.ts',
    find: 'organizationId: scope.organizationId,\n      tokenHash: Uint8Array.from(tokenHash),\n      usedAt: null,',
    replace: 'tokenHash: Uint8Array.from(tokenHash),\n      usedAt: null,',
  },
  voidAccessLinksOf: {
    file: 'access-links.ts',
    find: 'where: { organizationId: scope.organizationId, userId, usedAt: null }',
    replace: 'where: { userId, usedAt: null }',
  },
};

/**
 * Statements without the organization, one for each function of the store that takes a scope. If the scope is then unused,
 * the compiler reports that first; these faults check that the test finds it, too.
 */
export const ISOLATION_FAULTS: readonly Fault[] = [
  ...Object.entries(STORE).map(
    ([name, { file, ...edit }]): Fault => ({
      title: `${name} without the organization`,
      edits: [{ file: `src/store/${file}`, ...edit }],
      caughtBy: 'test/store/isolation.test.ts',
    }),
  ),
  {
    title: 'a scope is taken and not used',
    edits: [
      {
        file: 'src/store/sessions.ts',
        find: 'where: { organizationId: scope.organizationId, userId }',
        replace: 'where: { userId }',
      },
    ],
    caughtBy: 'types',
  },
  {
    title: 'a cursor is not bound to its organization',
    edits: [
      {
        file: 'src/api/cursor.ts',
        find: '`${key}\\0${list}\\0${position}`',
        replace: '`${key.slice(64)}\\0${list}\\0${position}`',
      },
    ],
    caughtBy: 'test/contract/two-organizations.test.ts',
  },
  {
    title: 'a cursor is not bound to its list',
    edits: [
      {
        file: 'src/api/cursor.ts',
        find: '`${key}\\0${list}\\0${position}`',
        replace: '`${key}\\0${list.length * 0}\\0${position}`',
      },
    ],
    caughtBy: 'test/api/list-cursor.test.ts',
  },
  {
    title: 'a cached response is served to other organizations',
    edits: [
      {
        file: 'src/api/response-cache.ts',
        find: 'return `${scope.organizationId} ${organizationVersion} ${url}`;',
        replace: 'return `${scope.organizationId.slice(36)} ${organizationVersion} ${url}`;',
      },
    ],
    caughtBy: 'test/api/response-cache.test.ts',
  },
  {
    title: 'a cached response is served after its data changed',
    edits: [
      {
        file: 'src/api/response-cache.ts',
        find: 'return `${scope.organizationId} ${organizationVersion} ${url}`;',
        replace: 'return `${scope.organizationId} ${organizationVersion.slice(20)} ${url}`;',
      },
    ],
    caughtBy: 'test/api/response-cache.test.ts',
  },
  {
    title: 'a response with data newer than its version is cached',
    edits: [
      {
        file: 'src/api/response-cache.ts',
        find: 'if (version === caller.organizationVersion) this.#keep(name, response);',
        replace: 'if (version !== undefined) this.#keep(name, response);',
      },
    ],
    caughtBy: 'test/api/response-cache.test.ts',
  },
  {
    title: 'cached responses are never evicted',
    edits: [
      {
        file: 'src/api/response-cache.ts',
        find: 'this.#youngBytes += bytes;',
        replace: 'this.#youngBytes += Math.min(bytes, 0);',
      },
    ],
    caughtBy: 'test/api/response-cache.test.ts',
  },
  {
    title: 'the URLs of cached responses do not count towards the limit',
    edits: [
      {
        file: 'src/api/response-cache.ts',
        find: 'OVERHEAD_BYTES + name.length + ',
        replace: 'OVERHEAD_BYTES + Math.min(name.length, 100) + ',
      },
    ],
    caughtBy: 'test/api/response-cache.test.ts',
  },
  {
    title: 'a response that depends on a header is cached for other headers',
    edits: [
      {
        file: 'src/api/contract-operation.ts',
        find: "headers.every(({ name }) => name === 'If-None-Match')",
        replace: "headers.some(({ name }) => name === 'If-None-Match')",
      },
    ],
    caughtBy: 'test/api/response-cache.test.ts',
  },
  {
    title: 'a handler grants itself an organization',
    edits: [
      {
        file: 'src/api/handlers/key.ts',
        find: "import type { Handler } from '../operation.ts';\n",
        replace:
          "import { OrganizationScope } from '../../domain/organization-scope.ts';\nimport type { Handler } from '../operation.ts';\n",
      },
      {
        file: 'src/api/handlers/key.ts',
        find: '{ id: caller.scope.organizationId,',
        replace: '{ id: OrganizationScope.grant(caller.scope.organizationId).organizationId,',
      },
    ],
    caughtBy: 'boundaries',
  },
  {
    title: 'a handler bypasses the store',
    edits: [
      {
        file: 'src/api/handlers/key.ts',
        find: "import type { Handler } from '../operation.ts';\n",
        replace:
          "import type { PrismaClient } from '../../../generated/prisma/client.ts';\nimport type { Handler } from '../operation.ts';\nexport type Db = PrismaClient;\n",
      },
    ],
    caughtBy: 'boundaries',
  },
];
