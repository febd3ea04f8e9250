import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ErrorObject } from 'ajv';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { type Context, type Document, OpenAPIBackend, OpenAPIValidator, type Request } from 'openapi-backend';
import { createAjv } from '../contract/contract.ts';
import { Exchange } from '../domain/request.ts';
import { canonicalJson, parseJson } from '../domain/resources/json.ts';
import { ApiRequest, readRequest } from './api-request.ts';
import { loosenChanges } from './changes.ts';
import { ContractRouter } from './contract-router.ts';
import { type OperationHandler, type RefusalOf, SECURITY_SCHEME } from './operation.ts';
import { conditionalResponseOf, type RenderedResponse, render, type Send, type SendException } from './response.ts';
import { cacheUrlOf, lookInCache, type ResponseCache, type Versioned } from './response-cache.ts';
import { createRefusalOf, requireValid } from './violations.ts';

export type ContractApiDeps = {
  readonly definition: Document;
  /** The handlers by operationId. There must be one for every operation of the contract. */
  readonly handlers: Readonly<Record<string, OperationHandler>>;
  /** The permissions that a key can have. */
  readonly permissions: readonly string[];
  /** Delays a request for a path or method that does not exist. If it is omitted, such requests are not delayed. */
  readonly throttle?: (req: IncomingMessage) => Promise<void>;
  /** Sets the key of the request. Throws a 401 if the request has no accepted key. */
  readonly authenticate: (request: ApiRequest) => Promise<void>;
  /**
   * Sets the rate limit headers of the response. Throws a 429 if the key or its organization sends too many requests. Called for
   * each request, and again for a batch as soon as its `extraItems` are known.
   */
  readonly limit: (request: ApiRequest) => Promise<void> | void;
  /** Sets the caller of the request; throws a 403 if the caller may not call the operation. */
  readonly permit: (request: ApiRequest) => void;
  /** The cache of responses. If it is omitted, every response is rendered again. */
  readonly cache?: ResponseCache;
  /** Runs a handler when it is the request's turn. If it is omitted, the handler runs immediately. */
  readonly runInTurn?: RunInTurn;
  readonly send: Send;
};

export type RunInTurn = <T>(request: ApiRequest, work: () => Promise<T>) => Promise<T>;

export type ContractApi = {
  readonly router: ContractRouter;
  /** Responds to the request. Rejects with the error if the request is refused. */
  handle(request: ApiRequest): Promise<void>;
  /**
   * Compiles the validators of all operations in the background, with pauses for other work. If an operation is requested
   * earlier, its validators are compiled for that request.
   */
  prepare(): Promise<void>;
};

/**
 * Creates an API that serves the contract by openapi-backend. The server and the mock share this code, but have different
 * handlers and identify the caller in different ways. Throws if the contract cannot be served.
 */
export async function createContractApi(deps: ContractApiDeps): Promise<ContractApi> {
  const { definition, permissions, throttle, authenticate, limit, permit, cache, send } = deps;
  const contract = await openContract(definition, permissions);
  const { api, router, validator } = contract;
  dispatch(contract, {
    match: createMatch(router, throttle), // 404, 405
    authenticate, // 401, 403
    limit, // 429
    permit, // 403
    lookInCache: (request) => lookInCache(request, cache),
    read: readRequest, // 400, 406, 413, 415
    validate: requireValid, // 422
    handle: createResponders(deps, contract),
    send: (request, response) => send(request, conditionalResponseOf(request.req, response)),
  });
  return {
    router,
    // The assertion is safe: an ApiRequest differs from openapi-backend's Request in two types only. Node lists absent headers as
    // `undefined`, and a query that was converted by its schemas contains integers.
    handle: (request) => api.handleRequest(request as unknown as Request, request),
    async prepare() {
      for (const { operationId } of router.getOperations()) {
        await setImmediate();
        validator.getRequestValidatorsForOperation(operationId);
      }
    },
  };
}

/** The steps of a request, in this order. If a step throws because it refuses the request, the later steps are skipped. */
type Steps = {
  /** Refuses a request for which the router found no operation. */
  readonly match: (request: ApiRequest) => Promise<never>;
  readonly authenticate: ContractApiDeps['authenticate'];
  readonly limit: ContractApiDeps['limit'];
  readonly permit: ContractApiDeps['permit'];
  readonly lookInCache: (request: ApiRequest) => void;
  /** Decodes the URL, and reads the body if the operation has a body. */
  readonly read: (request: ApiRequest) => Promise<void> | undefined;
  /** Throws if openapi-backend has found errors in the request, or the request has a mistake that no schema can find. */
  readonly validate: (request: ApiRequest, found: readonly ErrorObject[]) => void;
  /** Returns the function that responds to valid requests for an operation. */
  readonly handle: (operationId: string) => Respond;
  readonly send: (request: ApiRequest, response: RenderedResponse) => void;
};

type Respond = (request: ApiRequest) => RenderedResponse | Promise<RenderedResponse>;

/** Registers the steps with openapi-backend, which runs them in order. */
function dispatch({ api, router }: Contract, steps: Steps): void {
  const { match, authenticate, limit, permit, lookInCache, read, validate, handle, send } = steps;
  api.register({ notFound: (_context: Context, request: ApiRequest) => match(request) });
  api.registerSecurityHandler(SECURITY_SCHEME, async (_context, request: ApiRequest) => {
    await authenticate(request);
    await limit(request);
    permit(request);
    return true;
  });
  api.register({
    unauthorizedHandler: rethrow,
    postSecurityHandler({ security }, request: ApiRequest) {
      // If the request is not authorized, `unauthorizedHandler` refuses it next.
      if (security['authorized'] !== true) return;
      lookInCache(request);
      const reading = read(request);
      if (reading !== undefined) request.exchange.beginPart('body');
      return reading;
    },
    validationFail: ({ validation }: Context, request: ApiRequest) => validate(request, validation.errors ?? []),
  });
  for (const { operationId } of router.getOperations()) {
    const respond = handle(operationId);
    api.register(operationId, (_context: Context, request: ApiRequest) => {
      validate(request, []);
      return respond(request);
    });
  }
  api.register({
    postResponseHandler: ({ response }: { response: RenderedResponse }, request: ApiRequest) => send(request, response),
  });
}

/** Rethrows the error of a security handler, so that an outage of the database leads to a 503, not a 401. */
function rethrow({ security }: Context): never {
  throw security[SECURITY_SCHEME].error;
}

function createMatch(router: ContractRouter, throttle: ContractApiDeps['throttle']): Steps['match'] {
  return async (request) => {
    await throttle?.(request.req);
    throw router.refusalOf(request);
  };
}

/** Returns the function that responds to the requests for each operation. Throws if an operation has no handler. */
function createResponders(deps: ContractApiDeps, { router, validator }: Contract): Steps['handle'] {
  const { handlers, limit, cache, runInTurn = runAtOnce } = deps;
  const refusalOf = createRefusalOf(validator, router);
  return (operationId) => {
    const handler = handlers[operationId];
    if (handler === undefined) throw new Error(`The operation ${operationId} of the contract has no handler.`);
    const callInTurn = async (request: ApiRequest): Promise<RenderedResponse> => {
      const { operation, caller, exchange } = request;
      exchange.beginPart('rendering');
      const work = () => runInTurn(request, () => callHandler(handler, request, refusalOf));
      return cache !== undefined && operation.isCacheable
        ? cache.render(caller, cacheUrlOf(request), work)
        : (await work()).response;
    };
    return (request) => {
      if (request.cached !== undefined) return request.cached;
      request.extraItems = extraItemsOf(request);
      if (request.operation.countedField !== undefined) request.exchange.changes = 1 + request.extraItems;
      const limited = request.extraItems > 0 ? limit(request) : undefined;
      return limited instanceof Promise ? limited.then(() => callInTurn(request)) : callInTurn(request);
    };
  };
}

/**
 * Returns the number of changes in a batch other than the first, or 0 if the request is not a batch. The body has been validated.
 */
function extraItemsOf({ operation: { countedField }, requestBody }: ApiRequest): number {
  if (countedField === undefined) return 0;
  const items: unknown = Object(requestBody)[countedField];
  return Array.isArray(items) ? Math.max(0, items.length - 1) : 0;
}

const runAtOnce: RunInTurn = (_request, work) => work();

async function callHandler(handler: OperationHandler, request: ApiRequest, refusalOf: RefusalOf): Promise<Versioned> {
  const { params: path, query, headers, requestBody: body, caller, operation, exchange } = request;
  exchange.beginPart('database');
  const sentBody = () => canonicalJson(parseJson(request.bodyText));
  const result = await handler({ path, query, headers, body, sentBody, caller, refusalOf });
  exchange.beginPart('rendering');
  return { response: render(operation, result), version: result.version };
}

type Contract = Awaited<ReturnType<typeof openContract>>;

/**
 * Opens openapi-backend with Charter's router and validator. Charter's router and validator do some work once, at startup, that
 * openapi-backend's own router and validator would repeat for each request.
 */
async function openContract(definition: Document, permissions: readonly string[]) {
  const api = new OpenAPIBackend({
    // openapi-backend modifies the document that it is given when it resolves the references.
    definition: structuredClone(definition),
    // openapi-backend would check the 3.1 document against the schema of OpenAPI 3.0. `npm run generate` has linted it already.
    quick: true,
    customizeAjv: createAjv,
    validate: (_context, request: ApiRequest) => !request.isKnownValid,
  });
  await api.init();
  const router = new ContractRouter(api.definition, permissions);
  for (const operation of router.getOperations()) loosenChanges(operation);
  // The router is replaced before handlers are registered, because openapi-backend's own router would search the document again
  // for each handler.
  api.router = router;
  const ajv = createAjv();
  const validator = new OpenAPIValidator({
    definition: api.definition,
    // openapi-backend asks for an Ajv instance for each schema. One instance is enough; creating another takes half a
    // millisecond.
    customizeAjv: () => ajv,
    router,
    // Compiling takes a tenth of the startup time. The validators of responses are never used, so they are never compiled.
    lazyCompileValidators: true,
  });
  api.validator = validator;
  return { api, router, validator };
}

export type ApiMiddleware = {
  /** Answers every request. If the path is unknown, sends the contract's 404. */
  readonly answer: RequestHandler;
  /** Answers errors that other middleware has thrown with the contract's exceptions. */
  readonly answerError: ErrorRequestHandler;
};

/** Returns the API as Express middleware. Both functions expect an `Exchange` in `res.locals`. */
export function createApiMiddleware(api: ContractApi, sendException: SendException): ApiMiddleware {
  return {
    // If the returned promise is rejected, Express passes the error to the error handler.
    answer(req, res) {
      const request = new ApiRequest(req, res, Exchange.of(res));
      return api.handle(request).catch((error: unknown) => sendException(request, error));
    },
    // Express recognizes an error handler by its four parameters.
    answerError: (error: unknown, req, res, _next) => sendException(new ApiRequest(req, res, Exchange.of(res)), error),
  };
}
