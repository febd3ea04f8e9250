import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ErrorObject } from 'ajv';
import type { RequestHandler } from 'express';
import { type Context, type Document, OpenAPIBackend, OpenAPIValidator, type Request } from 'openapi-backend';
import { createAjv } from '../contract/contract.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError } from '../domain/errors.ts';
import { ApiRequest } from './api-request.ts';
import { SECURITY_SCHEME } from './contract-operation.ts';
import { ContractRouter } from './contract-router.ts';
import { HttpError } from './exceptions.ts';
import type { OperationHandler } from './operation.ts';
import { readBody, refuseUnacceptable } from './request-body.ts';
import { conditionalResponse, type RenderedResponse, render, type Send } from './response.ts';
import type { ResponseCache } from './response-cache.ts';
import { Violations } from './violations.ts';

export type ContractApiDeps = {
  readonly definition: Document;
  /** By operationId; every operation of the contract needs one. */
  readonly handlers: Readonly<Record<string, OperationHandler>>;
  /** Permissions that a key can have. */
  readonly permissions: readonly string[];
  /** The caller for whom a request acts; throws where there is none, or where the caller lacks the permission. */
  readonly authorize: (req: IncomingMessage, permission: string | undefined) => Promise<Caller>;
  /** Runs a handler when it is the turn of the request. By default at once. */
  readonly runInTurn?: RunInTurn;
  /** Delays a request for a path or with a method that does not exist. By default not at all. */
  readonly throttle?: (req: IncomingMessage) => Promise<void>;
  /** The one place where responses leave. */
  readonly send: Send;
  /** Undefined: every response is rendered anew. */
  readonly cache?: ResponseCache;
};

export type RunInTurn = <T>(request: ApiRequest, work: () => Promise<T>) => Promise<T>;

/** Everything about the contract that a request meets, in openapi-backend's own order. `handle` rejects with a refusal. */
export type ContractApi = {
  readonly router: ContractRouter;
  handle(request: ApiRequest): Promise<void>;
  /** `handle` as Express middleware; it expects the request's id in `res.locals`. */
  readonly middleware: RequestHandler;
  /**
   * Compiles the validators of all operations, with other work in between, so that no request waits for that. An operation that
   * is requested earlier has its validators compiled then.
   */
  prepare(): Promise<void>;
};

/**
 * The contract as openapi-backend runs it: match, authenticate, permit, validate, call, send. The server and the mock differ
 * in their handlers and in how a caller is known, and in nothing else. Throws where the contract cannot be served.
 */
export async function createContractApi(deps: ContractApiDeps): Promise<ContractApi> {
  const {
    definition,
    permissions,
    handlers,
    authorize,
    runInTurn = atOnce,
    throttle = async () => {},
    send,
    cache,
  } = deps;
  const api = new OpenAPIBackend({
    // It resolves the references within what it is given.
    definition: structuredClone(definition),
    // It would check a 3.1 document against 3.0's schema; `npm run generate` has linted it.
    quick: true,
    customizeAjv: createAjv,
    validate: (_context, request: ApiRequest) => !request.isKnownValid,
  });
  await api.init();
  const router = new ContractRouter(api.definition, permissions);
  api.router = router;
  const ajv = createAjv();
  api.validator = new OpenAPIValidator({
    definition: api.definition,
    // openapi-backend asks for an instance for each schema. One is enough, and creating it takes half a millisecond.
    customizeAjv: () => ajv,
    router,
    // Compiling takes a tenth of the start. Response validators are never used, so nothing compiles them.
    lazyCompileValidators: true,
  });
  // After the router is replaced: openapi-backend's own searches the document anew for each handler.
  for (const { operationId } of router.getOperations()) {
    const handler = handlers[operationId];
    if (handler === undefined) throw new Error(`The operation ${operationId} of the contract has no handler.`);
    api.register(operationId, (_context: Context, request: ApiRequest) => {
      // Validation sees one value of each field.
      if (request.repeatedFields.length > 0) refuseInvalid(request, []);
      return request.cached ?? respond(request, { handler, runInTurn, cache });
    });
  }
  api.registerSecurityHandler(SECURITY_SCHEME, async (_context, request: ApiRequest) => {
    request.caller = await authorize(request.req, request.operation.permission);
    return request.caller;
  });
  api.register({
    notFound: async (_context: Context, request: ApiRequest) => {
      await throttle(request.req);
      return notFound(request, router);
    },
    methodNotAllowed: async (_context: Context, request: ApiRequest) => {
      await throttle(request.req);
      return methodNotAllowed(request);
    },
    unauthorizedHandler,
    postSecurityHandler: ({ security }, request: ApiRequest) => security['authorized'] && readRequest(request, cache),
    validationFail,
    postResponseHandler: ({ response }: { response: RenderedResponse }, request: ApiRequest) =>
      send(request, conditionalResponse(request.req, response)),
  });
  // An ApiRequest is openapi-backend's Request except for two types: Node lists absent headers as undefined, and a query
  // that was read by its schemas holds integers.
  const handle = (request: ApiRequest): Promise<void> => api.handleRequest(request as unknown as Request, request);
  return {
    router,
    handle,
    // Express 5 passes a rejection on to the error handler.
    middleware: (req, res) => handle(new ApiRequest(req, res, res.locals['requestId'])),
    async prepare() {
      for (const { operationId } of router.getOperations()) {
        await setImmediate();
        api.validator.getRequestValidatorsForOperation(operationId);
      }
    },
  };
}

const atOnce: RunInTurn = (_request, work) => work();

function notFound({ url }: ApiRequest, router: ContractRouter): never {
  const path = url.split('?', 1)[0] ?? '';
  // The lookbehind makes it linear: otherwise the search would start again at each slash of a run that is not at the end.
  const shorter = path.replace(/(?<!\/)\/+$/, '');
  const remedy =
    shorter !== path && router.hasPath(shorter)
      ? `Remove the slash at its end: ${shorter}`
      : 'See the paths in the API document.';
  throw new DomainError('not_found', `There is nothing at this path. ${remedy}`);
}

function methodNotAllowed({ method, allow }: ApiRequest): never {
  throw new HttpError('method_not_allowed', `${method} is not allowed. Allowed methods: ${allow}.`, { Allow: allow });
}

/** Rethrows what authentication threw, so that an outage of the database is a 503 and not a 401. */
function unauthorizedHandler({ security }: Context): never {
  throw security[SECURITY_SCHEME].error;
}

/**
 * Looks for a cached response, decodes the URL unless that response makes validation needless, and reads the body. Throws for
 * faults that validation cannot see.
 */
function readRequest(request: ApiRequest, cache: ResponseCache | undefined): Promise<void> | undefined {
  const { req, operation } = request;
  refuseMissingHost(req);
  if (cache !== undefined && operation.isCacheable) {
    request.cached = cache.find(request.caller, request.url);
    request.isKnownValid = request.cached !== undefined && hasKnownHeaders(req, request.cached);
  }
  // Both throw for a malformed percent-encoding.
  if (!request.isKnownValid) void [request.params, request.query];
  refuseUnacceptable(req);
  return operation.hasBody ? readRequestBody(request) : undefined;
}

/** The URL was validated when the response was rendered, so only If-None-Match is left to judge. */
function hasKnownHeaders(req: IncomingMessage, { entityTag }: RenderedResponse): boolean {
  const { 'if-none-match': ifNoneMatch } = req.headers;
  return ifNoneMatch === undefined || ifNoneMatch === entityTag;
}

function refuseMissingHost(req: IncomingMessage): void {
  if (req.headers.host === undefined && req.httpVersion === '1.1') {
    throw new HttpError('bad_request', 'The Host header is missing (RFC 9112 section 3.2).');
  }
}

async function readRequestBody(request: ApiRequest): Promise<void> {
  const { value, repeated } = await readBody(request.req, request.operation.mediaTypes);
  request.requestBody = value;
  request.repeatedFields = repeated;
  // openapi-backend validates a body that is no object only if its type is this one.
  if (value !== undefined && typeof value !== 'object')
    request.headers = { ...request.headers, 'content-type': 'application/json' };
}

function validationFail({ validation }: Context, request: ApiRequest): never {
  return refuseInvalid(request, validation.errors ?? []);
}

/** From Ajv's errors to a 422 that names each field and the remedy. */
function refuseInvalid({ repeated, repeatedFields, operation }: ApiRequest, found: readonly ErrorObject[]): never {
  const violations = new Violations();
  for (const name of [...repeated, ...repeatedFields])
    violations.add(name, 'is sent more than once. Send it only once.');
  const places = new Set(repeated.map((name) => `/query/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`));
  violations.addAll(
    found.filter(({ instancePath }) => !places.has(instancePath)),
    operation,
  );
  violations.throwIfAny();
  throw new Error('Validation failed without an error.');
}

type Responding = {
  readonly handler: OperationHandler;
  readonly runInTurn: RunInTurn;
  readonly cache: ResponseCache | undefined;
};

async function respond(request: ApiRequest, { handler, runInTurn, cache }: Responding): Promise<RenderedResponse> {
  const { operation, caller, url } = request;
  const handle = async () => {
    const { params: path, query, headers, requestBody: body } = request;
    const result = await handler({ path, query, headers, body, caller });
    return { response: render(operation, result), version: result.version };
  };
  const work = () => runInTurn(request, handle);
  return cache !== undefined && operation.isCacheable ? cache.render(caller, url, work) : (await work()).response;
}
