import type { components } from '../../../generated/openapi.d.ts';
import type { Caller } from '../../domain/audit/actor.ts';
import { type Handler, withoutDatabase } from '../operation.ts';

export const getKey: Handler<'getKey'> = withoutDatabase(async ({ caller }) => {
  return { status: 200, headers: {}, body: presentKey(caller), version: caller.organizationVersion };
});

/**
 * Returns the key as the contract shows it. The declared return type lets the compiler refuse a field that the contract does not
 * have.
 */
export function presentKey(caller: Caller): components['schemas']['Key'] {
  return {
    id: caller.keyId,
    name: caller.keyName,
    permissions: [...caller.permissions],
    expires_at: caller.expiresAt?.toISOString() ?? null,
    organization: { id: caller.scope.organizationId, name: caller.organizationName },
    integration: caller.integration,
  };
}
