import type { Handler } from '../operation.ts';

export const getKey: Handler<'getKey'> = async ({ caller }) => ({
  status: 200,
  headers: {},
  body: {
    id: caller.keyId,
    name: caller.keyName,
    permissions: [...caller.permissions],
    expires_at: caller.expiresAt?.toISOString() ?? null,
    organization: { id: caller.scope.organizationId, name: caller.organizationName },
  },
});
