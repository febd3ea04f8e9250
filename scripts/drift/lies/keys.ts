import type { Lie } from '../lie.ts';

const KEY = 'src/domain/api-key.ts';
const AUTHENTICATE = 'src/service/authenticate.ts';
const ROLE = 'src/domain/role.ts';

/** Who may do what is decided otherwise than is promised. */
export const KEY_LIES: readonly Lie[] = [
  {
    title: 'a revoked key is taken',
    edits: [
      {
        file: KEY,
        find: "  if (revokedAt !== null) return { kind: 'revoked', at: revokedAt };\n",
        replace: '  if (revokedAt !== null) return null;\n',
      },
    ],
    caughtBy: 'test/domain/judge-key.test.ts',
  },
  {
    title: 'a rotated key is taken',
    edits: [
      {
        file: KEY,
        find: "  if (rotatedAt !== null) return { kind: 'rotated', at: rotatedAt };\n",
        replace: '  if (rotatedAt !== null) return null;\n',
      },
    ],
    caughtBy: 'test/domain/judge-key.test.ts',
  },
  {
    title: 'an expired key is taken for a moment',
    edits: [{ file: KEY, find: 'expiresAt <= now)', replace: 'expiresAt < now)' }],
    caughtBy: 'test/domain/judge-key.test.ts',
  },
  {
    title: "a deactivated user's key is taken",
    edits: [
      {
        file: KEY,
        find: "  if (record.userDeactivatedAt !== null) return { kind: 'deactivated', at: record.userDeactivatedAt };\n",
        replace: '',
      },
    ],
    caughtBy: 'test/domain/judge-key.test.ts',
  },
  {
    title: 'a key keeps what its user may no longer do',
    edits: [
      {
        file: KEY,
        find: 'const permissions = permissionsOf(record.role).filter(',
        replace: "const permissions = permissionsOf('administrator').filter(",
      },
    ],
    caughtBy: 'test/domain/judge-key.test.ts',
  },
  {
    title: 'a mistyped key is looked up',
    edits: [
      {
        file: KEY,
        find: 'if (checksum(body) !== text.slice(-CHECKSUM_CHARACTERS)) return',
        replace: "if (checksum(body) === '') return",
      },
    ],
    caughtBy: 'test/domain/api-key.test.ts',
  },
  {
    title: 'a key of the other environment is taken',
    edits: [
      {
        file: AUTHENTICATE,
        find: 'if (format.environment !== environment) {',
        replace: "if (format.environment !== environment && environment === 'test') {",
      },
    ],
    caughtBy: 'test/api/authentication.test.ts',
  },
  {
    title: 'a suspended organization is served',
    edits: [
      {
        file: AUTHENTICATE,
        find: 'if (record.organizationSuspendedAt !== null) {',
        replace: 'if (record.organizationSuspendedAt === at) {',
      },
    ],
    caughtBy: 'test/api/key-state.test.ts',
  },
  {
    title: 'the look-up of a key is remembered',
    edits: [
      {
        file: AUTHENTICATE,
        find: 'return batchLookUps((hashes) => findKeysByHash(db, hashes));',
        replace: `const look = batchLookUps((hashes: readonly string[]) => findKeysByHash(db, hashes));
  const known = new Map<string, Promise<KeyRecord | null>>();
  return async (hash) => {
    const found = known.get(hash) ?? look(hash);
    known.set(hash, found);
    return found;
  };`,
      },
    ],
    caughtBy: 'test/api/key-state.test.ts',
  },
  {
    title: 'whoever asks meanwhile gets the answer of the look-up in flight',
    edits: [
      {
        file: 'src/service/batch-look-ups.ts',
        find: '    next = new Batch();\n    await batch.settle(within(seconds, () => lookUp([...batch.keys])));\n',
        replace: '    await batch.settle(within(seconds, () => lookUp([...batch.keys])));\n    next = new Batch();\n',
      },
    ],
    caughtBy: 'test/service/batch-look-ups.test.ts',
  },
  {
    title: 'a look-up that never ends holds everybody',
    edits: [{ file: 'src/service/batch-look-ups.ts', find: 'within(seconds, ', replace: 'within(seconds + 3600, ' }],
    caughtBy: 'test/service/batch-look-ups.test.ts',
  },
  {
    title: 'who waits for a look-up that others wait for is not counted',
    edits: [
      {
        file: 'src/service/batch-look-ups.ts',
        find: 'next.waiting >= maxWaiting',
        replace: 'next.keys.size >= maxWaiting',
      },
    ],
    caughtBy: 'test/service/batch-look-ups.test.ts',
  },
  {
    title: "a key's permission is not asked for",
    edits: [
      {
        file: 'src/api/server-api.ts',
        find: 'if (permission !== undefined && !held.includes(permission))',
        replace: "if (permission === '' && !held.includes(permission))",
      },
    ],
    caughtBy: 'test/contract/every-operation-key.test.ts',
  },
  {
    title: 'two Authorization headers are one',
    edits: [
      {
        file: 'src/api/authentication.ts',
        find: "if (countOf(req.rawHeaders, 'authorization') > 1) {",
        replace: "if (countOf(req.rawHeaders, 'authorization') > 2) {",
      },
    ],
    caughtBy: 'test/api/authentication.test.ts',
  },
  {
    title: 'a viewer may write',
    edits: [{ file: ROLE, find: "viewer: ['parent_programs:read'],", replace: 'viewer: PERMISSIONS,' }],
    caughtBy: 'test/domain/role.test.ts',
  },
  {
    title: "a manager may take an administrator's key",
    edits: [
      {
        file: ROLE,
        find: 'maySeeKeysOfOthers(actor) && RANK[target] <= RANK[actor]',
        replace: 'maySeeKeysOfOthers(actor) && RANK[target] >= 0',
      },
    ],
    caughtBy: 'test/domain/role.test.ts',
  },
  {
    title: 'a rotation leaves the old key alive',
    edits: [
      {
        file: 'src/store/api-keys.ts',
        find: 'set rotated_at = ${now}::timestamptz, rotated_by_user_id',
        replace: 'set rotated_by_user_id',
      },
    ],
    caughtBy: 'test/service/rotate-key.test.ts',
  },
  {
    title: 'a rotation of a key that has ended makes another',
    edits: [
      {
        file: 'src/store/api-keys.ts',
        find: 'and user_id = ${userId}::uuid\n        and rotated_at is null and revoked_at is null and (expires_at is null or expires_at > ${now}::timestamptz)\n      returning',
        replace: 'and user_id = ${userId}::uuid\n      returning',
      },
    ],
    caughtBy: 'test/service/rotate-key.test.ts',
  },
  {
    title: 'a rotation leaves no event',
    edits: [
      {
        file: 'src/service/rotate-key.ts',
        find: '    await recordAudit(tx, scope, {\n',
        replace: "    if (keyId === '') await recordAudit(tx, scope, {\n",
      },
    ],
    caughtBy: 'test/service/key-audit.test.ts',
  },
  {
    title: 'a user may have any number of keys',
    edits: [{ file: KEY, find: 'export const MAX_ACTIVE_KEYS = 10;', replace: 'export const MAX_ACTIVE_KEYS = 1000;' }],
    caughtBy: 'test/service/issue-key.test.ts',
  },
  {
    title: 'a key lives longer than the organization allows',
    edits: [
      {
        file: 'src/service/issue-key.ts',
        find: 'if (lifeDays !== null && lifeDays > maxKeyLifeDays)',
        replace: 'if (lifeDays !== null && lifeDays > 2 * maxKeyLifeDays)',
      },
    ],
    caughtBy: 'test/service/key-policy.test.ts',
  },
  {
    title: 'a key is given what its user does not have',
    edits: [
      {
        file: 'src/service/issue-key.ts',
        find: 'findBeyondRole(request, holder.role)',
        replace: "findBeyondRole(request, holder.role === 'viewer' ? 'member' : holder.role)",
      },
    ],
    caughtBy: 'test/dashboard/mass-assignment.test.ts',
  },
  {
    title: 'an audit event holds a key that a client has sent',
    edits: [
      {
        file: 'src/store/audit.ts',
        find: "\n    .replace(/charter_(live|test)_\\w{5,}/g, 'charter_$1_…')",
        replace: '',
      },
    ],
    caughtBy: 'test/service/audit.test.ts',
  },
];
