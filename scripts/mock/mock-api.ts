import type { IncomingMessage } from 'node:http';
import { keyOf } from '../../src/api/authentication.ts';
import type { Document } from '../../src/api/contract.ts';
import { type ContractApi, type ContractApiDeps, createContractApi } from '../../src/api/contract-api.ts';
import type { Operation } from '../../src/api/document.ts';
import type { OperationHandler } from '../../src/api/operation.ts';
import type { Send } from '../../src/api/response.ts';
import { type Environment, formatKey, type KeyRecord } from '../../src/domain/api-key.ts';
import { PERMISSIONS } from '../../src/domain/role.ts';
import { authenticate } from '../../src/service/authenticate.ts';

export type MockApiDeps = {
  readonly operations: readonly Operation[];
  readonly handlerOf: (operation: Operation) => OperationHandler;
  /** The environment whose keys are accepted. */
  readonly environmentOf: (req: IncomingMessage) => Environment;
  readonly send: Send;
};

/** The contract as the server serves it, with other handlers; accepts every well-formed API key. */
export function createMockApi(definition: Document, deps: MockApiDeps): Promise<ContractApi> {
  const { operations, handlerOf, environmentOf, send } = deps;
  return createContractApi({
    definition,
    handlers: Object.fromEntries(operations.map((operation) => [operation.operationId, handlerOf(operation)])),
    permissions: operations.flatMap(({ security }) => security.flatMap((scheme) => Object.values(scheme).flat())),
    authorize: acceptEveryKey(environmentOf),
    send,
  });
}

/** An API key for the user to copy, the same at every start. No server accepts it. */
export function mockKey(environment: Environment): string {
  return formatKey(environment, 'Mock'.repeat(10));
}

/** The server's own check of keys, with a look-up that finds every well-formed key. Each key has every permission. */
function acceptEveryKey(environmentOf: MockApiDeps['environmentOf']): ContractApiDeps['authorize'] {
  const keyUses = { used() {}, refused() {} };
  return (req) => {
    const options = { findKey: async () => KEY, environment: environmentOf(req), now: () => new Date(), keyUses };
    return authenticate(keyOf(req), options);
  };
}

const KEY: KeyRecord = {
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
