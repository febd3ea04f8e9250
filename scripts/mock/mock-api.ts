import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from '../../src/api/api-request.ts';
import { type ContractApi, createContractApi } from '../../src/api/contract-api.ts';
import { keyOf } from '../../src/api/key-steps.ts';
import type { OperationHandler } from '../../src/api/operation.ts';
import type { Send } from '../../src/api/response.ts';
import type { Document } from '../../src/contract/contract.ts';
import { type Operation, sufficientPermissionsOf } from '../../src/contract/document.ts';
import { type Environment, formatKey, type KeyRecord } from '../../src/domain/keys/api-key.ts';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { acceptKey, admitCaller, getKnownKey, parseKeyHash } from '../../src/service/authenticate.ts';
import { NO_KEY_USES } from '../../src/traffic/last-used.ts';

type MockApiDeps = {
  readonly operations: readonly Operation[];
  readonly handlerOf: (operation: Operation) => OperationHandler;
  /** Returns the environment whose keys are accepted. */
  readonly environmentOf: (req: IncomingMessage) => Environment;
  /** Counts the request against the rate limits. See `ContractApiDeps.limit`. */
  readonly limit: (request: ApiRequest) => void;
  readonly send: Send;
};

/**
 * Creates an API that implements the same contract as the server, but with the mock's handlers. It accepts every well-formed API
 * key.
 */
export function createMockApi(definition: Document, deps: MockApiDeps): Promise<ContractApi> {
  const { operations, handlerOf, environmentOf, limit, send } = deps;
  return createContractApi({
    definition,
    handlers: Object.fromEntries(operations.map((operation) => [operation.operationId, handlerOf(operation)])),
    permissions: operations.flatMap(sufficientPermissionsOf),
    authenticate: acceptEveryKey(environmentOf),
    limit,
    permit(request) {
      request.caller = admitCaller(request.key, () => null);
    },
    send,
  });
}

/** Returns an API key for the user to copy. It is the same at every start. No server accepts it. */
export function mockKey(environment: Environment): string {
  return formatKey(environment, 'Mock'.repeat(10));
}

/** Returns the server's own check of keys, with a look-up that finds every well-formed key. */
function acceptEveryKey(environmentOf: MockApiDeps['environmentOf']) {
  const options = { findKey: async () => KEY, now: () => new Date(), keyUses: NO_KEY_USES };
  return async (request: ApiRequest): Promise<void> => {
    const { req } = request;
    request.key = acceptKey(await getKnownKey(parseKeyHash(keyOf(req), environmentOf(req)), options));
  };
}

const KEY: KeyRecord = {
  organizationId: '019b9c83-28c0-711e-8f67-8d111738f7d9',
  organizationName: 'Aurora Education Group',
  organizationSuspendedAt: null,
  organizationIsMoving: false,
  organizationVersion: '1',
  cursorKey: '',
  organizationLimits: { perKey: null, perOrganization: null },
  requestsPerSecond: null,
  allowedAddresses: null,
  id: '019de2fb-197b-76ca-83c8-90c1d3ac94af',
  name: 'Mock',
  permissions: PERMISSIONS,
  expiresAt: null,
  expiredAt: null,
  rotatedAt: null,
  revokedAt: null,
  role: 'administrator',
  userDeactivatedAt: null,
  integration: null,
};
