import type { Fault } from '../fault.ts';

/** Rows and responses of another organization. */
export const ORGANIZATION_FAULTS: readonly Fault[] = [
  {
    title: 'findRow without the organization',
    file: 'src/store/table.ts',
    find: 'from ${name} where organization_id = $1 and id = $2`',
    replace: 'from ${name} where $1::uuid is not null and id = $2`',
    caughtBy: 'test/service/resources/rows.test.ts',
  },
  {
    title: 'replaceRow without the organization',
    file: 'src/store/rows.ts',
    find: 'from writer\n      where refused is null\n        and organization_id = ${scope.organizationId}::uuid and id',
    replace: 'from writer\n      where refused is null\n        and id',
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'listRows without the organization',
    file: 'src/store/list.ts',
    find: "['organization_id = $1', ...start",
    replace: "['$1::uuid is not null', ...start",
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'revokeApiKey without the organization',
    file: 'src/store/api-keys.ts',
    find: 'where: { organizationId: scope.organizationId, id, userId, rotatedAt: null, revokedAt: null }',
    replace: 'where: { id, userId, rotatedAt: null, revokedAt: null }',
    caughtBy: 'test/service/keys/revoke-key.test.ts',
  },
  {
    title: 'useAccessLink without the organization',
    file: 'src/store/access-links.ts',
    find: 'organizationId: scope.organizationId,\n      tokenHash: Uint8Array.from(tokenHash),\n      usedAt: null,',
    replace: 'tokenHash: Uint8Array.from(tokenHash),\n      usedAt: null,',
    caughtBy: 'test/service/accounts/access-links.test.ts',
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
    file: 'src/store/events.ts',
    find: 'where organization_id = $1 and ${conditions}',
    replace: 'where $1::uuid is not null and ${conditions}',
    caughtBy: 'test/contract/two-organizations.test.ts',
  },
  {
    title: "another organization's webhook endpoint can be read",
    file: 'src/store/webhook-endpoints.ts',
    find: '${SELECT_DETAILS} and w.id = $2`',
    replace: "${SELECT_DETAILS.replace('where w.organization_id = $1', 'where $1::uuid is not null')} and w.id = $2`",
    caughtBy: 'test/service/webhooks/reading.test.ts',
  },
];
