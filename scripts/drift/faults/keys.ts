import type { Fault } from '../fault.ts';

const KEY = 'src/domain/api-key.ts';
const AUTHENTICATE = 'src/service/authenticate.ts';
const KEYRING = 'src/domain/keyring.ts';
const KEY_OF_WRITE = 'src/store/key-of-write.ts';
const ROLE = 'src/domain/role.ts';
const CLOCKS = 'test/api/clocks.test.ts';

/** Faults in API keys: who may do what, and until when. */
export const KEY_FAULTS: readonly Fault[] = [
  {
    title: 'a revoked key is accepted',
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
    title: 'a rotated key is accepted',
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
    title: 'an expired key is accepted for a moment',
    edits: [{ file: KEY, find: '(expiresAt <= now ||', replace: '(expiresAt < now ||' }],
    caughtBy: 'test/domain/judge-key.test.ts',
  },
  {
    title: 'a key that was refused as expired is accepted again once the clock is set back',
    edits: [
      {
        file: KEY,
        find: '(expiresAt <= now || hasRecordedExpiry({ expiresAt, expiredAt }))',
        replace: 'expiresAt <= now',
      },
    ],
    caughtBy: 'test/domain/key-end.test.ts',
  },
  {
    title: 'the refusal of an expired key is not recorded',
    edits: [
      {
        file: 'src/api/server-api.ts',
        find: 'error instanceof ExpiredKeyError && !hasRecordedExpiry(',
        replace: 'error instanceof ExpiredKeyError && hasRecordedExpiry(',
      },
    ],
    caughtBy: CLOCKS,
  },
  {
    title: 'the refusal of a key that expired before its write is not recorded',
    edits: [
      {
        file: 'src/api/server-api.ts',
        find: 'if (error instanceof ExpiredKeyError)\n',
        replace: "if (error instanceof ExpiredKeyError && operationId === 'getKey')\n",
      },
    ],
    caughtBy: CLOCKS,
  },
  {
    title: 'a refusal for an expiry is recorded for the later one that an operator has set since',
    edits: [
      {
        file: 'src/store/api-keys.ts',
        find: 'k.id = $2 and k.expires_at = $3\n',
        replace: 'k.id = $2 and k.expires_at >= $3\n',
      },
    ],
    caughtBy: CLOCKS,
  },
  {
    title: 'PostgreSQL accepts the write of a key that was refused as expired',
    edits: [
      {
        file: KEY_OF_WRITE,
        find: 'expires_at > greatest(statement_timestamp(), expired_at)',
        replace: 'expires_at > statement_timestamp()',
      },
    ],
    caughtBy: CLOCKS,
  },
  {
    title: 'a key that was refused as expired can be rotated',
    edits: [
      {
        file: 'src/store/api-keys.ts',
        find: 'expires_at > greatest(${at.toISOString()}::timestamptz, expired_at)',
        replace: 'expires_at > ${at.toISOString()}::timestamptz',
      },
    ],
    caughtBy: CLOCKS,
  },
  {
    title: 'the list of active keys shows one that was refused as expired',
    edits: [
      { file: 'src/store/key-lists.ts', find: 'expires_at > greatest($3, expired_at)', replace: 'expires_at > $3' },
    ],
    caughtBy: CLOCKS,
  },
  {
    title: "a deactivated user's key is accepted",
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
    title: 'a key keeps permissions that its user has lost',
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
    title: 'a key with a wrong checksum is looked up',
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
    title: 'a key of the other environment is accepted',
    edits: [
      {
        file: AUTHENTICATE,
        find: 'if (format.environment === environment) return;',
        replace: "if (format.environment === environment || environment === 'live') return;",
      },
    ],
    caughtBy: 'test/api/authentication.test.ts',
  },
  {
    title: "a suspended organization's key is accepted",
    edits: [
      {
        file: AUTHENTICATE,
        find: 'if (state.organizationSuspendedAt === null) return;',
        replace: 'if (state.organizationSuspendedAt !== undefined) return;',
      },
    ],
    caughtBy: 'test/api/key-state.test.ts',
  },
  {
    title: 'the result of a key look-up is cached',
    edits: [
      {
        file: AUTHENTICATE,
        find: 'const find = batchLookUps((hashes) => findKeysByHash(db, hashes), { measures, tracing });',
        replace: `const look = batchLookUps((hashes: readonly string[]) => findKeysByHash(db, hashes));
  const known = new Map<string, Promise<KeyRecord | null>>();
  const find: FindKey = async (hash) => {
    const found = known.get(hash) ?? look(hash);
    known.set(hash, found);
    return found;
  };`,
      },
    ],
    caughtBy: 'test/api/key-state.test.ts',
  },
  {
    title: 'a request gets the result of a look-up that started before it',
    edits: [
      {
        file: 'src/traffic/batch-look-ups.ts',
        find: '    next = new Batch();\n    await batch.settle(within(seconds, { every: waitSeconds, refuse: refuseWaiting }, () => lookUpAll(batch)));\n',
        replace:
          '    await batch.settle(within(seconds, { every: waitSeconds, refuse: refuseWaiting }, () => lookUpAll(batch)));\n    next = new Batch();\n',
      },
    ],
    caughtBy: 'test/traffic/batch-look-ups.test.ts',
  },
  {
    title: 'a look-up that never ends blocks all requests',
    edits: [{ file: 'src/traffic/batch-look-ups.ts', find: 'within(seconds, ', replace: 'within(seconds + 3600, ' }],
    caughtBy: 'test/traffic/batch-look-ups.test.ts',
  },
  {
    title: 'requests that wait for a shared look-up are not counted',
    edits: [
      {
        file: 'src/traffic/batch-look-ups.ts',
        find: 'next.waiting >= maxWaiting',
        replace: 'next.keys.size >= maxWaiting',
      },
    ],
    caughtBy: 'test/traffic/batch-look-ups.test.ts',
  },
  {
    title: "a key's permission is not checked",
    edits: [
      {
        file: AUTHENTICATE,
        find: 'if (permission !== undefined && !permissions.includes(permission))',
        replace: "if (permission === '' && !permissions.includes(permission))",
      },
    ],
    caughtBy: 'test/contract/every-operation-key.test.ts',
  },
  {
    title: 'two Authorization headers are accepted',
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
    title: 'a viewer can write',
    edits: [{ file: ROLE, find: 'viewer: READ_PERMISSIONS,', replace: 'viewer: PERMISSIONS,' }],
    caughtBy: 'test/domain/role.test.ts',
  },
  {
    title: "a manager can change an administrator's key",
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
    title: 'a rotation keeps the old key active',
    edits: [
      {
        file: 'src/store/api-keys.ts',
        find: 'set rotated_at = ${now}::timestamptz, rotated_by_user_id',
        replace: 'set rotated_by_user_id',
      },
    ],
    caughtBy: 'test/service/keys/rotate-key.test.ts',
  },
  {
    title: 'an inactive key can be rotated',
    edits: [
      {
        file: 'src/store/api-keys.ts',
        find: 'and user_id = ${userId}::uuid\n        and ${isActiveAt(at)}\n      returning',
        replace: 'and user_id = ${userId}::uuid\n      returning',
      },
    ],
    caughtBy: 'test/service/keys/rotate-key.test.ts',
  },
  {
    title: 'a rotation lets a key that never expires stay so against the policy',
    edits: [
      {
        file: 'src/service/keys/rotate-key.ts',
        find: '    const beyondPolicy = findBeyondPolicy(life, policy);',
        replace:
          '    const beyondPolicy = life.lifeDays === null && renewed === null ? null : findBeyondPolicy(life, policy);',
      },
    ],
    caughtBy: 'test/service/keys/rotate-expiry.test.ts',
  },
  {
    title: 'a rotation keeps an expiry that the organization no longer allows',
    edits: [
      {
        file: 'src/service/keys/rotate-key.ts',
        find: '    const beyondPolicy = findBeyondPolicy(life, policy);',
        replace:
          '    const beyondPolicy = life.lifeDays !== null && renewed === null ? null : findBeyondPolicy(life, policy);',
      },
    ],
    caughtBy: 'test/service/keys/rotate-expiry.test.ts',
  },
  {
    title: 'a rotation is not in the audit log',
    edits: [
      {
        file: 'src/service/keys/rotate-key.ts',
        find: '    await recordAudit(tx, scope, {\n',
        replace: "    if (keyId === '') await recordAudit(tx, scope, {\n",
      },
    ],
    caughtBy: 'test/service/keys/key-audit.test.ts',
  },
  {
    title: 'a key in the URL of a search is repeated on the page',
    edits: [
      { file: 'src/dashboard/keys/find.ts', find: 'return findKeyIn(text)?.prefix ?? text;', replace: 'return text;' },
    ],
    caughtBy: 'test/dashboard/organization/api-keys.test.ts',
  },
  {
    title: 'a key of somebody else that is in use is revoked without its name',
    edits: [
      {
        file: 'src/dashboard/keys/confirmation.ts',
        find: 'if (context.isOwn) return null;',
        replace: "if (context.isOwn || typed === '') return null;",
      },
    ],
    caughtBy: 'test/dashboard/keys/confirmations.test.ts',
  },
  {
    title: 'a user can have any number of keys',
    edits: [{ file: KEY, find: 'export const MAX_ACTIVE_KEYS = 10;', replace: 'export const MAX_ACTIVE_KEYS = 1000;' }],
    caughtBy: 'test/service/keys/issue-key.test.ts',
  },
  {
    title: "a key can outlive the organization's limit",
    edits: [
      {
        file: 'src/service/keys/key-life.ts',
        find: 'if (lifeDays !== null && lifeDays > maxKeyLifeDays)',
        replace: 'if (lifeDays !== null && lifeDays > 2 * maxKeyLifeDays)',
      },
    ],
    caughtBy: 'test/service/keys/key-policy.test.ts',
  },
  {
    title: 'a key can have permissions that its user does not have',
    edits: [
      {
        file: 'src/service/keys/issue-key.ts',
        find: 'findBeyondRole(request, holder.role)',
        replace: "findBeyondRole(request, holder.role === 'viewer' ? 'member' : holder.role)",
      },
    ],
    caughtBy: 'test/dashboard/http/mass-assignment.test.ts',
  },
  {
    title: 'an audit event contains a key from a request',
    edits: [
      {
        file: 'src/store/storable.ts',
        find: "\n    .replace(/charter_(live|test)_\\w{5,}/g, 'charter_$1_…')",
        replace: '',
      },
    ],
    caughtBy: 'test/service/audit.test.ts',
  },
  {
    title: 'a write that began before the revocation of its key is made after it',
    edits: [{ file: KEY_OF_WRITE, find: 'case when revoked_at is null and', replace: 'case when' }],
    caughtBy: 'test/api/revoked-meanwhile.test.ts',
  },
  {
    title: 'a write checks its key without the lock of the organization',
    edits: [
      { file: KEY_OF_WRITE, find: '${keyId}::uuid, ${isLocked})', replace: '${keyId}::uuid, ${isLocked} and false)' },
    ],
    caughtBy: 'test/service/keys/revocation-race.test.ts',
  },
  {
    title: 'a revocation does not wait for the writes of the key',
    edits: [
      {
        file: 'src/service/keys/key-authority.ts',
        find: "action === 'revoke' || action === 'rotate' ?",
        replace: "action === 'rotate' ?",
      },
    ],
    caughtBy: 'test/service/keys/revocation-race.test.ts',
  },
  {
    title: 'two active key names can differ only in letter case',
    edits: [{ file: 'src/domain/name.ts', find: '.toUpperCase().toLowerCase()', replace: '' }],
    caughtBy: 'test/domain/name.test.ts',
  },
  {
    title: 'an encrypted secret can be copied to another user',
    edits: [{ file: KEYRING, find: "[column, ...ids].join('\\0')", replace: "[column, ids.length].join('\\0')" }],
    caughtBy: 'test/domain/keyring.test.ts',
  },
  {
    title: 'the second factor is stored as plain bytes',
    edits: [
      {
        file: 'src/service/accounts/second-factor-code.ts',
        find: 'keyring.encrypt(secret.bytes, placeOfTotpSecret(user))',
        replace: 'Uint8Array.from(secret.bytes)',
      },
    ],
    caughtBy: 'test/service/accounts/second-factor-set-up.test.ts',
  },
  {
    title: 'a server starts without the key of the secrets in its database',
    edits: [
      {
        file: 'src/postgres/open-keyring.ts',
        find: 'if (missing.length === 0) return;',
        replace: 'if (missing.length === 0 || keyring.currentId !== source) return;',
      },
    ],
    caughtBy: 'test/postgres/encryption.test.ts',
  },
  {
    title: 'a rotation forgets a lost encryption key that a secret needs',
    edits: [
      {
        file: 'src/postgres/open-keyring.ts',
        find: 'if (used.length > 0) {',
        replace: 'if (used.length > 0 && choice.replacesUnusedKeys !== true) {',
      },
    ],
    caughtBy: 'test/postgres/encryption.test.ts',
  },
  {
    title: 'a server without the key of a secret reports that it is ready',
    edits: [
      {
        file: 'src/app.ts',
        find: 'if (error instanceof MissingEncryptionKeyError) lacksEncryptionKey = true;',
        replace: 'lacksEncryptionKey = false;',
      },
    ],
    caughtBy: 'test/process/encryption-key.test.ts',
  },
  {
    title: 'everybody on the machine can read the encryption key',
    edits: [
      {
        file: 'src/postgres/encryption-key-file.ts',
        find: '{ mode: 0o600, flush: true }',
        replace: '{ mode: 0o644, flush: true }',
      },
    ],
    caughtBy: 'test/postgres/encryption.test.ts',
  },
  {
    title: 'the old encryption key can still be used after the rotation',
    edits: [
      {
        file: 'src/store/secrets.ts',
        find: "`delete from encryption_keys where id <> decode($1, 'hex')`",
        replace: "`delete from encryption_keys where id <> decode($1, 'hex') and false`",
      },
    ],
    caughtBy: 'test/postgres/encryption.test.ts',
  },
  {
    title: 'a rotation removes an encryption key that a secret still needs',
    edits: [
      {
        file: 'src/store/secrets.ts',
        find: 'const isNeeded = rows[0]?.needed !== false;',
        replace: 'const isNeeded = rows[0]?.needed === null;',
      },
    ],
    caughtBy: 'test/service/keys/lock-order.test.ts',
  },
  {
    title: 'the responses to an ended key are not counted',
    edits: [
      {
        file: 'src/api/server-api.ts',
        find: '      recordResponseIn(req, known.use);\n      return acceptKey(known);\n',
        replace:
          '      const accepted = acceptKey(known);\n      recordResponseIn(req, known.use);\n      return accepted;\n',
      },
    ],
    caughtBy: 'test/api/counted-responses.test.ts',
  },
  {
    title: 'the counts of one process replace those of another',
    edits: [
      {
        file: 'src/store/key-uses.ts',
        find: 'set successful = u.successful + excluded.successful,',
        replace: 'set successful = excluded.successful,',
      },
    ],
    caughtBy: 'test/api/counted-responses.test.ts',
  },
  {
    title: 'a response that is sent after a write is counted nowhere',
    edits: [
      { file: 'src/traffic/last-used.ts', find: '    return batch.find(this);\n', replace: '    return this;\n' },
    ],
    caughtBy: 'test/traffic/last-used-failure.test.ts',
  },
  {
    title: 'counts of requests are kept forever',
    edits: [
      {
        file: 'src/observability/housekeeping.ts',
        find: "  'counts of requests': deleteOldKeyUses,\n",
        replace: "  'counts of requests': async () => deleteOldKeyUses.length - 2,\n",
      },
    ],
    caughtBy: 'test/observability/housekeeping.test.ts',
  },
  {
    title: 'a key in the User-Agent is stored as the name of the client',
    edits: [
      {
        file: 'src/domain/client-product.ts',
        find: "if (product === null || product.split('/').some((part) => findKeyIn(part) !== null)) return null;",
        replace: "if (product === null || findKeyIn(product)?.kind === 'mistyped') return null;",
      },
    ],
    caughtBy: 'test/domain/client-product.test.ts',
  },
  {
    title: 'counts that cannot be written keep others from it',
    edits: [{ file: 'src/traffic/last-used.ts', find: '[...uses, ...part]', replace: '[...part, ...uses]' }],
    caughtBy: 'test/traffic/last-used-failure.test.ts',
  },
];
