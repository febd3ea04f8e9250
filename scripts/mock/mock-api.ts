import { hash as sha256 } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from '../../src/api/api-request.ts';
import { type ContractApi, createContractApi } from '../../src/api/contract-api.ts';
import { keyOf } from '../../src/api/key-steps.ts';
import type { OperationHandler } from '../../src/api/operation.ts';
import type { Send } from '../../src/api/response.ts';
import type { Document } from '../../src/contract/contract.ts';
import { type Json, type Operation, sufficientPermissionsOf } from '../../src/contract/document.ts';
import type { Caller } from '../../src/domain/audit/actor.ts';
import { DomainError, invalidField } from '../../src/domain/errors.ts';
import { type Environment, formatKey, hashKey, type KeyRecord } from '../../src/domain/keys/api-key.ts';
import { isPermission, PERMISSIONS } from '../../src/domain/people/role.ts';
import {
  acceptKey,
  admitCaller,
  getKnownKey,
  parseKeyHash,
  requirePermission,
} from '../../src/service/authenticate.ts';
import { NO_KEY_USES } from '../../src/traffic/last-used.ts';
import type { KeyOptions } from './package/types.ts';
import { uuidOf } from './written-body.ts';

type MockApiDeps = {
  readonly operations: readonly Operation[];
  readonly handlerOf: (operation: Operation) => OperationHandler;
  readonly keys: MockKeys;
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
  const { operations, handlerOf, keys, environmentOf, limit, send } = deps;
  return createContractApi({
    definition,
    handlers: Object.fromEntries(operations.map((operation) => [operation.operationId, handlerOf(operation)])),
    permissions: operations.flatMap(sufficientPermissionsOf),
    authenticate: acceptEveryKey(keys, environmentOf),
    limit,
    permit(request) {
      request.caller = admitCaller(request.key, () => null);
      // An edited contract may contain permissions that the server's code does not know. Every key has such permissions.
      requirePermission(request.caller.permissions, request.operation.permissions.filter(isPermission));
    },
    send,
  });
}

/** The id of the organization of all keys that were not created for another organization. */
export const FIRST_ORGANIZATION = '019b9c83-28c0-711e-8f67-8d111738f7d9';

/** Returns an API key for the user to copy. It is the same at every start. No server accepts it. */
export function mockKey(environment: Environment): string {
  return formatKey(environment, 'Mock'.repeat(10));
}

/** Returns the server's own check of keys, with a look-up that finds every well-formed key. */
function acceptEveryKey(keys: MockKeys, environmentOf: MockApiDeps['environmentOf']) {
  const options = { findKey: async (hash: string) => keys.get(hash), now: () => new Date(), keyUses: NO_KEY_USES };
  return async (request: ApiRequest): Promise<void> => {
    const { req } = request;
    request.key = acceptKey(await getKnownKey(parseKeyHash(keyOf(req), environmentOf(req)), options));
  };
}

/** The keys with fewer permissions or in another organization. All other keys have every permission in the first organization. */
export class MockKeys {
  readonly #records = new Map<string, KeyRecord>();

  /** Returns the key with this hash. */
  get(hash: string): KeyRecord {
    return this.#records.get(hash) ?? KEY;
  }

  /** Creates a key. The same options always give the same key. Throws a 422 for wrong options. */
  create(value: Json, environment: Environment): NewKey {
    const { permissions = PERMISSIONS, organization = KEY.organizationName } = value;
    if (!Array.isArray(permissions) || !permissions.every((each) => PERMISSIONS.includes(each)))
      throw invalidField('permissions', `must be an array with any of: ${PERMISSIONS.join(', ')}.`);
    if (typeof organization !== 'string' || organization.trim() === '' || organization.length > 100)
      throw invalidField('organization', 'must be the name of an organization, of 1 to 100 characters.');
    const held = PERMISSIONS.filter((each) => permissions.includes(each));
    const options = JSON.stringify([organization, held]);
    const key = formatKey(environment, sha256('sha256', options).slice(0, 40));
    if (this.#records.size >= MAX_KEYS && !this.#records.has(hashKey(key)))
      throw new DomainError('conflict', `There are at most ${MAX_KEYS} keys.`);
    this.#records.set(hashKey(key), {
      ...KEY,
      id: uuidOf(options),
      permissions: held,
      organizationId: organization === KEY.organizationName ? KEY.organizationId : uuidOf(organization),
      organizationName: organization,
    });
    return { key, permissions: held, organization };
  }

  /** Returns whether `create` has created the caller's key. */
  isCreated({ keyId }: Pick<Caller, 'keyId'>): boolean {
    return keyId !== KEY.id;
  }
}

/** A key of the mock, with the name of its organization. */
export type NewKey = Required<KeyOptions> & { readonly key: string };

const MAX_KEYS = 1000;

const KEY: KeyRecord = {
  organizationId: FIRST_ORGANIZATION,
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
