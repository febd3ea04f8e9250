import type { IncomingMessage } from 'node:http';
import { keyOf } from '../../src/api/authentication.ts';
import type { ContractApiDeps } from '../../src/api/contract-api.ts';
import { type Environment, formatKey, type KeyRecord } from '../../src/domain/api-key.ts';
import { PERMISSIONS } from '../../src/domain/role.ts';
import { authenticate } from '../../src/service/authenticate.ts';

/** The same at every start, so that it can stand in a configuration. No server knows it. */
export function mockKey(environment: Environment): string {
  return formatKey(environment, 'Mock'.repeat(10));
}

/** The server's own check of keys, over a table that holds every well-formed key. Each key has every permission. */
export function acceptEveryKey(environmentOf: (req: IncomingMessage) => Environment): ContractApiDeps['authorize'] {
  const keyUses = { used() {}, refused() {} };
  return (req) => {
    const options = { findKey: async () => RECORD, environment: environmentOf(req), now: () => new Date(), keyUses };
    return authenticate(keyOf(req), options);
  };
}

const RECORD: KeyRecord = {
  organizationId: '019b9c83-28c0-711e-8f67-8d111738f7d9',
  organizationName: 'Aurora Education Group',
  organizationSuspendedAt: null,
  organizationVersion: '1',
  cursorKey: '',
  id: '019de2fb-197b-76ca-83c8-90c1d3ac94af',
  name: 'Mock',
  permissions: PERMISSIONS,
  expiresAt: null,
  rotatedAt: null,
  revokedAt: null,
  role: 'administrator',
  userDeactivatedAt: null,
};
