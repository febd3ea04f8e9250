import type { IncomingMessage } from 'node:http';
import { type Document, readDocument } from '../contract/contract.ts';
import { type Environment, hasRecordedExpiry } from '../domain/api-key.ts';
import type { Caller } from '../domain/caller.ts';
import { clientProductOf } from '../domain/client-product.ts';
import { ExpiredKeyError, UnauthenticatedError } from '../domain/errors.ts';
import { networkOf } from '../domain/network.ts';
import { PERMISSIONS } from '../domain/role.ts';
import {
  type AcceptedKey,
  acceptKey,
  callerOf,
  type FindKey,
  findKnownKey,
  type KnownKey,
  type RecordExpiry,
  recordExpiriesIn,
  requirePermission,
} from '../service/authenticate.ts';
import type { Database } from '../store/database.ts';
import type { FairQueue } from '../traffic/fair-queue.ts';
import type { KeyUses } from '../traffic/last-used.ts';
import type { RequestLimiter } from '../traffic/request-limiter.ts';
import { keyHashOf } from './authentication.ts';
import { type ContractApi, createContractApi } from './contract-api.ts';
import { countResponses, recordResponseIn } from './counted-responses.ts';
import { handlers } from './handlers/index.ts';
import type { HandlerDeps, Handlers, OperationHandler, OperationId } from './operation.ts';
import { createPause, REFUSAL_PAUSE_MS } from './pause.ts';
import { applyAdmission, TOO_MANY_WITHOUT_KEY } from './rate-limit-fields.ts';
import { createSend, type Send } from './response.ts';
import type { ResponseCache } from './response-cache.ts';
import { type BrokenResponse, type ResponseCheck, sendChecked } from './response-check.ts';

export type ServerApiDeps = {
  db: Database;
  environment: Environment;
  now: () => Date;
  keyUses: KeyUses;
  findKey: FindKey;
  limiter: RequestLimiter;
  /** How long a refusal waits at most if its address sends too many requests without a valid key; 100 by default. */
  refusalPauseMs?: number | undefined;
  /** Delays a request from this address if the address sends too many requests without a valid key. */
  throttle: (ip: string) => Promise<void>;
  /** The address of the client, behind trusted proxies too. */
  clientAddressOf: (req: IncomingMessage) => string;
  /** Runs the handlers that need the database; the tenants are organizations. */
  queue: FairQueue;
  cache: ResponseCache;
  /** By name; sent with every response. */
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

/** Operations whose handlers do not use the database. */
const WITHOUT_DATABASE: ReadonlySet<string> = new Set<OperationId>(['getKey']);

/** The contract, served from the database. */
export async function createServerApi(deps: ServerApiDeps): Promise<ServerApi> {
  const { served, queue, responseCheck, onBrokenResponse, cache, securityHeaders } = deps;
  const definition = served?.definition ?? (await readDocument());
  const recordExpiry = recordExpiriesIn(deps.db);
  const unchecked = countResponses(createSend(securityHeaders));
  const send =
    responseCheck === null
      ? unchecked
      : sendChecked({ ...definition }, { ...responseCheck, send: unchecked, onBroken: onBrokenResponse });
  const api = await createContractApi({
    definition,
    handlers: bindHandlers(served?.handlers ?? handlers, { ...deps, recordExpiry }),
    permissions: PERMISSIONS,
    authorize: authorizeByKey({ ...deps, recordExpiry }),
    runInTurn: ({ operation, caller, req }, work) =>
      WITHOUT_DATABASE.has(operation.operationId) ? work() : queue.run(caller.scope.organizationId, req.socket, work),
    throttle: (req) => deps.throttle(deps.clientAddressOf(req)),
    send,
    cache,
  });
  return { ...api, send };
}

type AuthorizeDeps = Pick<
  ServerApiDeps,
  'findKey' | 'environment' | 'now' | 'keyUses' | 'limiter' | 'refusalPauseMs' | 'clientAddressOf'
> & { readonly recordExpiry: RecordExpiry };

function authorizeByKey(deps: AuthorizeDeps) {
  const { limiter } = deps;
  const pause = createPause(deps.refusalPauseMs ?? REFUSAL_PAUSE_MS);
  const accept = async (req: IncomingMessage): Promise<AcceptedKey> => {
    let known: KnownKey | undefined;
    try {
      known = await findKnownKey(keyHashOf(req, deps.environment), deps);
      recordResponseIn(req, known.use);
      return acceptKey(known);
    } catch (error) {
      if (known !== undefined && error instanceof ExpiredKeyError && !hasRecordedExpiry(known.record))
        await deps.recordExpiry(known.record, error.expiresAt);
      if (!(error instanceof UnauthenticatedError) || (await limiter.admitAddress(deps.clientAddressOf(req))))
        throw error;
      await pause();
      throw TOO_MANY_WITHOUT_KEY;
    }
  };
  return async (req: IncomingMessage, permission: string | undefined): Promise<Caller> => {
    const accepted = await accept(req);
    const admission = limiter.admitKey(accepted.record);
    if (admission !== null) applyAdmission(req, admission instanceof Promise ? await admission : admission);
    const caller = callerOf(accepted);
    recordClient(accepted, req, deps);
    requirePermission(caller.permissions, permission);
    return caller;
  };
}

function recordClient({ use, at }: AcceptedKey, req: IncomingMessage, { clientAddressOf }: AuthorizeDeps): void {
  if (!use.lacksClient(at)) return;
  const address = clientAddressOf(req);
  const network = address === '' ? null : networkOf(address);
  use.usedBy({ network, client: clientProductOf(req.headers['user-agent']) }, at);
}

function bindHandlers(
  served: Handlers,
  { recordExpiry, ...deps }: HandlerDeps & { readonly recordExpiry: RecordExpiry },
): Record<string, OperationHandler> {
  return Object.fromEntries(
    Object.entries(served).map(([operationId, handler]) => {
      // The contract's validators make the input the one of this operation; from here on the types hold.
      const typed = handler as (input: unknown, deps: HandlerDeps) => ReturnType<OperationHandler>;
      const bound: OperationHandler = async (input) => {
        try {
          return await typed(input, deps);
        } catch (error) {
          const { scope, keyId } = input.caller;
          if (error instanceof ExpiredKeyError)
            await recordExpiry({ organizationId: scope.organizationId, id: keyId }, error.expiresAt);
          throw error;
        }
      };
      return [operationId, bound];
    }),
  );
}
