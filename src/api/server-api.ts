import type { IncomingMessage } from 'node:http';
import type { Environment } from '../domain/api-key.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError } from '../domain/errors.ts';
import { PERMISSIONS } from '../domain/role.ts';
import { authenticate, findKeysIn, requirePermission } from '../service/authenticate.ts';
import type { KeyUses } from '../service/last-used.ts';
import type { Database } from '../store/database.ts';
import { keyOf } from './authentication.ts';
import { type Document, readDocument } from './contract.ts';
import { type ContractApi, createContractApi } from './contract-api.ts';
import { handlers } from './handlers/index.ts';
import type { HandlerDeps, Handlers, OperationHandler } from './operation.ts';
import { createSend, type Send } from './response.ts';
import { ResponseCache } from './response-cache.ts';
import { type BrokenResponse, type ResponseCheck, sendChecked } from './response-check.ts';

export type ServerApiDeps = {
  db: Database;
  environment: Environment;
  now: () => Date;
  keyUses: KeyUses;
  responseCacheBytes: number;
  /** Go with every response, by name. */
  securityHeaders: Readonly<Record<string, string>>;
  /** Another contract than the published one, with its handlers. */
  served?: { definition: Document; handlers: Handlers } | undefined;
  /** Null: responses are not checked, at no cost. */
  responseCheck: ResponseCheck | null;
  onBrokenResponse: (broken: BrokenResponse) => void;
};

export type ServerApi = ContractApi & {
  /** For errors too: the one place where the API's responses leave. */
  readonly send: Send;
};

/** The contract, served from the database. */
export async function createServerApi(deps: ServerApiDeps): Promise<ServerApi> {
  const { served, responseCheck, onBrokenResponse, responseCacheBytes, securityHeaders } = deps;
  const definition = served?.definition ?? (await readDocument());
  const unchecked = createSend(securityHeaders);
  const send =
    responseCheck === null
      ? unchecked
      : sendChecked({ ...definition }, { ...responseCheck, send: unchecked, onBroken: onBrokenResponse });
  const api = await createContractApi({
    definition,
    handlers: bindHandlers(served?.handlers ?? handlers, deps),
    permissions: PERMISSIONS,
    authorize: authorizeByKey(deps),
    send,
    cache: new ResponseCache(responseCacheBytes),
  });
  return { ...api, send };
}

function authorizeByKey(deps: Pick<ServerApiDeps, 'db' | 'environment' | 'now' | 'keyUses'>) {
  const options = { ...deps, findKey: findKeysIn(deps.db) };
  return async (req: IncomingMessage, permission: string | undefined): Promise<Caller> => {
    if (deps.db.isOverloaded()) throw new DomainError('unavailable', 'Too many requests wait for the database.');
    const caller = await authenticate(keyOf(req), options);
    requirePermission(caller.permissions, permission);
    return caller;
  };
}

function bindHandlers(served: Handlers, deps: HandlerDeps): Record<string, OperationHandler> {
  return Object.fromEntries(
    Object.entries(served).map(([operationId, handler]) => {
      // The contract's validators make the input the one of this operation; from here on the types hold.
      const typed = handler as (input: unknown, deps: HandlerDeps) => ReturnType<OperationHandler>;
      return [operationId, (input) => typed(input, deps)];
    }),
  );
}
