import { globSync } from 'node:fs';
import type { CHECKS } from '../test/checks.ts';
import { root } from '../tool.ts';

/**
 * The replacement of `find` with `replace` in a file. `find` must occur exactly once; `test/drift` reports faults that no longer
 * fit the code.
 */
export type Edit = { readonly file: string; readonly find: string; readonly replace: string };

/** The check or the test file that must catch a fault. */
export type Catcher = keyof typeof CHECKS | `test/${string}.${'test' | 'soak'}.ts`;

/** A small defect that a developer could introduce by mistake, and the check or the test file that must then fail. */
export type Fault = Edit & { readonly title: string; readonly caughtBy: Catcher };

export function isTest(catcher: Catcher): catcher is `test/${string}.${'test' | 'soak'}.ts` {
  return catcher.startsWith('test/');
}

const [released = ''] = globSync('openapi/released/*.yaml', { cwd: root });

/** All planted faults. Each breaks a promise to users that a single check or test guards. */
export const FAULTS: readonly Fault[] = [
  // API keys: who may do what, and until when; secrets and their encryption.
  {
    title: 'a revoked key is accepted',
    file: 'src/domain/keys/api-key.ts',
    find: "  if (revokedAt !== null) return { kind: 'revoked', at: revokedAt };\n",
    replace: '  if (revokedAt !== null) return null;\n',
    caughtBy: 'test/domain/keys/judge-key.test.ts',
  },
  {
    title: 'a key that was reported as leaked stays active',
    file: 'src/store/keys/reported-keys.ts',
    find: 'update api_keys k set revoked_at = $3, is_leaked = true',
    replace: 'update api_keys k set last_used_at = $3, is_leaked = true',
    caughtBy: 'test/dashboard/report-key/reports.test.ts',
  },
  {
    title: "a deactivated user's key is accepted",
    file: 'src/domain/keys/api-key.ts',
    find: "  if (record.userDeactivatedAt !== null) return { kind: 'deactivated', at: record.userDeactivatedAt };\n",
    replace: '',
    caughtBy: 'test/domain/keys/judge-key.test.ts',
  },
  {
    title: 'a key that was refused as expired is accepted again once the clock is set back',
    file: 'src/domain/keys/api-key.ts',
    find: '(expiresAt <= now || hasRecordedExpiry({ expiresAt, expiredAt }))',
    replace: 'expiresAt <= now',
    caughtBy: 'test/domain/keys/key-end.test.ts',
  },
  {
    title: 'a key keeps permissions that its user has lost',
    file: 'src/domain/keys/api-key.ts',
    find: 'const permissions = permissionsOf(record.role).filter(',
    replace: "const permissions = permissionsOf('administrator').filter(",
    caughtBy: 'test/domain/keys/judge-key.test.ts',
  },
  {
    title: 'the result of a key look-up is cached',
    file: 'src/service/authenticate.ts',
    find: 'const find = coalesceLookUps((hashes) => listKeysByHash(db, hashes), options);',
    replace:
      'const look = coalesceLookUps((hashes: readonly string[]) => listKeysByHash(db, hashes));\n  const known = new Map<string, Promise<KeyRecord | null>>();\n  const find: FindKey = async (hash) => {\n    const found = known.get(hash) ?? look(hash);\n    known.set(hash, found);\n    return found;\n  };',
    caughtBy: 'test/api/key-state.test.ts',
  },
  {
    title: "a key's permission is not checked",
    file: 'src/service/authenticate.ts',
    find: 'if (sufficient.length > 0 && !sufficient.some(',
    replace: 'if (sufficient.length > 9 && !sufficient.some(',
    caughtBy: 'test/contract/every-operation-key.test.ts',
  },
  {
    title: "a manager can change an administrator's key",
    file: 'src/domain/people/role.ts',
    find: 'maySeeKeysOfOthers(actor) && RANK[target] <= RANK[actor]',
    replace: 'maySeeKeysOfOthers(actor) && RANK[target] >= 0',
    caughtBy: 'test/domain/people/role.test.ts',
  },
  {
    title: 'a rotation keeps the old key active',
    file: 'src/store/keys/api-keys.ts',
    find: 'set rotated_at = ${now}::timestamptz, rotated_by_user_id',
    replace: 'set rotated_by_user_id',
    caughtBy: 'test/service/keys/rotate-key.test.ts',
  },
  {
    title: 'a user can have any number of keys',
    file: 'src/domain/keys/api-key.ts',
    find: 'export const MAX_ACTIVE_KEYS = 10;',
    replace: 'export const MAX_ACTIVE_KEYS = 1000;',
    caughtBy: 'test/service/keys/issue-key.test.ts',
  },
  {
    title: 'a write that began before the revocation of its key is made after it',
    file: 'src/store/resources/key-of-write.ts',
    find: "case when ${Prisma.raw(isActive('k', 'statement_timestamp()'))} and",
    replace: 'case when',
    caughtBy: 'test/api/revoked-meanwhile.test.ts',
  },
  {
    title: 'a manager gets at the key of an administrator by moving it to an integration',
    file: 'src/service/authority/keys.ts',
    find: 'for (const each of [holder, integration]) {',
    replace: 'for (const each of [integration]) {',
    caughtBy: 'test/service/keys/move-key.test.ts',
  },
  {
    title: 'an encrypted secret can be copied to another user',
    file: 'src/domain/keyring.ts',
    find: "[column, ...ids].join('\\0')",
    replace: "[column, ids.length].join('\\0')",
    caughtBy: 'test/domain/keyring.test.ts',
  },
  {
    title: 'an audit event contains a key from a request',
    file: 'src/store/sql/values.ts',
    find: 'isWholePrefix(found) ? found : `charter_${environment}_…`',
    replace: "environment === '' ? '' : found",
    caughtBy: 'test/service/audit/audit.test.ts',
  },
  // Rows and responses of another organization.
  {
    title: 'findRow without the organization',
    file: 'src/store/resources/table.ts',
    find: 'from ${name} where organization_id = $1 and ${field} = $2`',
    replace: 'from ${name} where $1::uuid is not null and ${field} = $2`',
    caughtBy: 'test/service/resources/rows.test.ts',
  },
  {
    title: 'revokeApiKey without the organization',
    file: 'src/store/keys/api-keys.ts',
    find: 'where: { organizationId: scope.organizationId, id, userId, rotatedAt: null, revokedAt: null }',
    replace: 'where: { id, userId, rotatedAt: null, revokedAt: null }',
    caughtBy: 'test/service/keys/revoke-key.test.ts',
  },
  {
    title: 'a cached response is served to other organizations',
    file: 'src/api/response-cache.ts',
    find: 'return `${scope.organizationId} ${organizationVersion} ${url}`;',
    replace: 'return `${scope.organizationId.slice(36)} ${organizationVersion} ${url}`;',
    caughtBy: 'test/api/response-cache.test.ts',
  },
  {
    title: 'a cached response is served after its data changed',
    file: 'src/api/response-cache.ts',
    find: 'return `${scope.organizationId} ${organizationVersion} ${url}`;',
    replace: 'return `${scope.organizationId} ${organizationVersion.slice(20)} ${url}`;',
    caughtBy: 'test/api/response-cache.test.ts',
  },
  {
    title: "the feed has another organization's events",
    file: 'src/store/resources/events.ts',
    find: 'where organization_id = $1 and id > $2',
    replace: 'where $1::uuid is not null and id > $2',
    caughtBy: 'test/api/feed.test.ts',
  },
  // The API.
  {
    title: 'If-Match is ignored',
    file: 'src/api/response.ts',
    find: "if (header === undefined || header.trim() === '*') return;",
    replace: "if (header !== '') return;",
    caughtBy: 'test/api/conditional.test.ts',
  },
  {
    title: 'Idempotency-Key is ignored',
    file: 'src/service/resources/rows.ts',
    find: 'idempotencyKey === undefined\n',
    replace: "idempotencyKey === undefined || table.name !== ''\n",
    caughtBy: 'test/api/idempotency.test.ts',
  },
  {
    title: 'an atomic batch makes the changes that are not refused',
    file: 'src/service/resources/batch.ts',
    find: 'if (isAtomic && refusals.size > 0)',
    replace: 'if (isAtomic && refusals.size > changes.length)',
    caughtBy: 'test/api/batch-as-a-whole.test.ts',
  },
  {
    title: 'a handler drops a field',
    file: 'src/api/key-steps.ts',
    find: '    name: caller.keyName,\n',
    replace: '',
    caughtBy: 'types',
  },
  {
    title: 'bodies are not validated',
    file: 'src/api/contract-api.ts',
    find: 'api.register(operationId, ',
    replace:
      'const checks = api.validator.getRequestValidatorsForOperation(operationId) ?? [];\n    if (checks.length > 1) checks.shift();\n    api.register(operationId, ',
    caughtBy: 'test/contract/every-operation-body.test.ts',
  },
  {
    title: 'a 500 reveals its cause',
    file: 'src/api/exceptions.ts',
    find: "refusal('bug', message)",
    replace: "refusal('bug', `${message} ${error}`)",
    caughtBy: 'test/contract/every-operation-fault.test.ts',
  },
  {
    title: 'a write is committed after its connection was lost',
    file: 'src/store/sql/session-settings.ts',
    find: "interval: '500ms'",
    replace: "interval: '0'",
    caughtBy: 'test/api/outage.test.ts',
  },
  {
    title: 'a page skips rows that have the same value as the last one before it',
    file: 'src/store/resources/list.ts',
    find: "(${sortField}, id) ${descending ? '<' : '>'} (${value}, ${id})",
    replace: "${id} is not null and ${sortField} ${descending ? '<' : '>'} ${value}",
    caughtBy: 'test/api/list-paging.test.ts',
  },
  {
    title: 'a deletion does not increase the version',
    file: 'prisma/migrations/20261120154233_organization_version/migration.sql',
    find: 'AFTER DELETE ON "parent_programs"\n  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE',
    replace:
      'AFTER DELETE ON "parent_programs"\n  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT WHEN (false) EXECUTE',
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'a migration makes a column narrower',
    file: 'prisma/migrations/20261120120000_init/migration.sql',
    find: '"description" VARCHAR(10000)',
    replace: '"description" VARCHAR(1000)',
    caughtBy: 'migrations',
  },
  // Events, webhooks and the client.
  {
    title: 'the ids of events are in the order of their creation, not of the commits',
    file: 'prisma/migrations/20261201110000_order_events_of_a_batch/migration.sql',
    find: '"event_id"(v."version",',
    replace: '"event_id"((extract(epoch FROM now()) * 1000000)::bigint,',
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'a deletion has no event',
    file: 'prisma/migrations/20261201110000_order_events_of_a_batch/migration.sql',
    find: `format('SELECT %L AS "type_of_event", b.* FROM "before" b'`,
    replace: `format('SELECT %L AS "type_of_event", b.* FROM "before" b WHERE false'`,
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'the signature of a webhook does not cover the time',
    file: 'src/domain/webhooks/webhook-message.ts',
    find: 'update(`${id}.${timestamp}.${body}`)',
    replace: 'update(`${id}.${body}`)',
    caughtBy: 'test/delivery/deliveries.test.ts',
  },
  {
    title: 'webhooks may be sent to the metadata of a cloud',
    file: 'src/domain/forbidden-address.ts',
    find: "'169.254.0.0/16', //",
    replace: "'169.254.0.0/17', //",
    caughtBy: 'test/domain/forbidden-address.test.ts',
  },
  {
    title: 'the client follows a redirect with the key',
    file: 'src/client/sending.ts',
    find: "redirect: 'manual'",
    replace: "redirect: 'follow'",
    caughtBy: 'test/client/secrecy.test.ts',
  },
  // The dashboard, and what derives from the contract.
  {
    title: 'a foreign page can submit a form',
    file: 'src/dashboard/http/body.ts',
    find: "if (!isOurs) throw new RequestError('foreign');",
    replace: "if (!isOurs && site === '') throw new RequestError('foreign');",
    caughtBy: 'test/dashboard/http/forged-forms.test.ts',
  },
  {
    title: 'signing out does not end the session on the server',
    file: 'src/store/people/sessions.ts',
    find: 'const { count } = await tx.session.deleteMany({',
    replace: 'const { count } = await tx.session.updateMany({\n    data: {},',
    caughtBy: 'test/service/sign-in/sign-in.test.ts',
  },
  {
    title: 'a session without the second factor counts as signed in',
    file: 'src/domain/people/session.ts',
    find: "return age < HALF_SESSION_MINUTES ? 'second-factor' : 'ended';",
    replace: "return age < HALF_SESSION_MINUTES ? 'signed-in' : 'ended';",
    caughtBy: 'test/service/sign-in/second-factor.test.ts',
  },
  {
    title: 'a page does not check the role',
    file: 'src/dashboard/routing/page-routes.ts',
    find: 'if (!gate.mayEnter(entry.context, page)) throw',
    replace: "if (!gate.mayEnter(entry.context, page) && req.method === 'PUT') throw",
    caughtBy: 'test/dashboard/roles.test.ts',
  },
  {
    title: 'signing in redirects to a foreign address',
    file: 'src/dashboard/http/addresses.ts',
    find: "url.origin !== 'http://ours.invalid' || !isBelow(url.pathname, SECTION_URLS)) return PROFILE_URL;\n  const path = url.pathname + url.search;",
    replace: 'text === null || !isBelow(url.pathname, SECTION_URLS)) return PROFILE_URL;\n  const path = text;',
    caughtBy: 'test/dashboard/sign-in/next.test.ts',
  },
  {
    title: 'a published version is edited',
    file: released,
    find: 'operationId: getKey',
    replace: 'operationId: getCallingKey',
    caughtBy: 'release',
  },
];
