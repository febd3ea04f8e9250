import type { IncomingMessage } from 'node:http';
import { type Document, readDocument } from '../contract/contract.ts';
import { ExpiredKeyError } from '../domain/errors.ts';
import type { Environment } from '../domain/keys/api-key.ts';
import { PERMISSIONS } from '../domain/people/role.ts';
import type { Tracing } from '../observability/instruments/tracing.ts';
import { createFindKey, createRecordExpiry, type RecordExpiry } from '../service/authenticate.ts';
import type { Database } from '../store/sql/database.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { type ApiMiddleware, createApiMiddleware, createContractApi } from './contract-api.ts';
import { handlers as ourHandlers } from './handlers/index.ts';
import { createKeySteps } from './key-steps.ts';
import type { HandlerDeps, Handlers, OperationHandler } from './operation.ts';
import { createSend, createSendException, type SendExceptionDeps } from './response.ts';
import type { ResponseCache } from './response-cache.ts';
import { type BrokenResponse, createCheckedSend, type ResponseCheck } from './response-check.ts';

export type ServedContract = { readonly definition: Document; readonly handlers: Handlers };

export type ServerApiConfig = {
  readonly environment: Environment;
  /** The name of the cell; `null` or omitted if the installation is not a cell. */
  readonly cell?: string | null | undefined;
  /** How responses are checked; `null` if they are not checked. */
  readonly responseCheck: ResponseCheck | null;
  /** The contract to serve. Default: the published contract. */
  readonly contract?: ServedContract | undefined;
};

export type ServerApiDeps = {
  readonly db: Database;
  readonly now: () => Date;
  readonly traffic: Traffic;
  readonly cache: ResponseCache;
  readonly tracing: Tracing | null;
  readonly reporter: Omit<SendExceptionDeps, 'send'> & { readonly onBrokenResponse: (broken: BrokenResponse) => void };
  /** Returns the address of the client, even behind trusted proxies. */
  readonly clientAddressOf: (req: IncomingMessage) => string;
  /** The headers, by name, that every response has. */
  readonly securityHeaders: Readonly<Record<string, string>>;
};

export type ServerApi = ApiMiddleware & {
  /** Compiles in the background what requests need. */
  prepare(): Promise<void>;
};

export async function createServerApi(config: ServerApiConfig, deps: ServerApiDeps): Promise<ServerApi> {
  const { environment, cell = null, responseCheck, contract } = config;
  const { db, now, traffic, cache, tracing, reporter, clientAddressOf, securityHeaders } = deps;
  const { definition, handlers } = contract ?? { definition: await readDocument(), handlers: ourHandlers };
  const findKey = createFindKey(db, { ...traffic.lookUps, tracing });
  const recordExpiry = createRecordExpiry(db);
  const usingDatabase = operationsUsingDatabase(handlers);
  const unchecked = createSend(securityHeaders);
  const send =
    responseCheck === null
      ? unchecked
      : createCheckedSend(
          { ...definition },
          { ...responseCheck, send: unchecked, onBroken: reporter.onBrokenResponse },
        );
  const api = await createContractApi({
    definition,
    handlers: bindHandlers(handlers, { db, keyUses: traffic.keyUses }, recordExpiry),
    permissions: PERMISSIONS,
    throttle: (req) => traffic.throttle(clientAddressOf(req)),
    ...createKeySteps({ findKey, environment, cell, now, traffic, clientAddressOf, recordExpiry }),
    cache,
    runInTurn({ operation, caller, req, exchange, extraItems }, work) {
      if (!usingDatabase.has(operation.operationId)) return work();
      exchange.beginPart('turn');
      return traffic.queues.api.run(caller.scope.organizationId, req.socket, work, { extraItems });
    },
    send,
  });
  return { ...createApiMiddleware(api, createSendException({ ...reporter, send })), prepare: api.prepare };
}

function operationsUsingDatabase(handlers: Handlers): ReadonlySet<string> {
  const using = Object.entries(handlers).filter(([, { usesDatabase = true }]) => usesDatabase);
  return new Set(using.map(([operationId]) => operationId));
}

function bindHandlers(
  handlers: Handlers,
  deps: HandlerDeps,
  recordExpiry: RecordExpiry,
): Record<string, OperationHandler> {
  return Object.fromEntries(
    Object.entries(handlers).map(([operationId, handler]) => {
      // The types hold, because the contract's validators have checked the input of this operation.
      const typed = handler as (input: unknown, deps: HandlerDeps) => ReturnType<OperationHandler>;
      const boundHandler: OperationHandler = async (input) => {
        try {
          return await typed(input, deps);
        } catch (error) {
          const { scope, keyId } = input.caller;
          if (error instanceof ExpiredKeyError)
            await recordExpiry({ organizationId: scope.organizationId, id: keyId }, error.expiresAt);
          throw error;
        }
      };
      return [operationId, boundHandler];
    }),
  );
}
