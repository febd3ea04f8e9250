import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ErrorObject } from 'ajv';
import { type Context, type Document, OpenAPIBackend, OpenAPIValidator, type Request } from 'openapi-backend';
import { createAjv } from '../contract/contract.ts';
import { isObject } from '../contract/document.ts';
import { DomainError } from '../domain/errors.ts';
import type { ApiRequest } from './api-request.ts';
import { structureOfChange } from './changes.ts';
import { ContractRouter } from './contract-router.ts';
import { HttpError } from './exceptions.ts';
import { type ContractOperation, type OperationHandler, type RefusalOf, SECURITY_SCHEME } from './operation.ts';
import { findCached, readRequest } from './read-request.ts';
import { conditionalResponse, type RenderedResponse, render } from './response.ts';
import type { ResponseCache } from './response-cache.ts';
import type { Send } from './send.ts';
import { invalidTextsIn, Violations } from './violations.ts';

export type ContractApiDeps = {
  readonly definition: Document;
  /** By operationId; every operation of the contract needs one. */
  readonly handlers: Readonly<Record<string, OperationHandler>>;
  /** Permissions that a key can have. */
  readonly permissions: readonly string[];
  /** Delays a request for a path or with a method that does not exist. By default not at all. */
  readonly throttle?: (req: IncomingMessage) => Promise<void>;
  /** Sets the key of the request; throws a 401 if there is none that is accepted. */
  readonly authenticate: (request: ApiRequest) => Promise<void>;
  /**
   * Sets the rate limit fields of the response; throws a 429 if the key or its organization sends too many requests. `further`:
   * for the requests that a batch stands for beside its own, which has been admitted.
   */
  readonly limit: (request: ApiRequest, further?: number) => Promise<void> | void;
  /** Sets the caller of the request; throws a 403 if the caller may not call the operation. */
  readonly permit: (request: ApiRequest) => void;
  /** If it is omitted, every response is rendered anew. */
  readonly cache?: ResponseCache;
  /** Runs a handler when it is the turn of the request. By default at once. */
  readonly runInTurn?: RunInTurn;
  readonly send: Send;
};

export type RunInTurn = <T>(request: ApiRequest, work: () => Promise<T>) => Promise<T>;

export type ContractApi = {
  readonly router: ContractRouter;
  /** Responds to the request, or rejects with a refusal. */
  handle(request: ApiRequest): Promise<void>;
  /**
   * Compiles the validators of all operations, with other work in between, so that no request waits for that. An operation that
   * is requested earlier has its validators compiled then.
   */
  prepare(): Promise<void>;
};

/**
 * The contract as openapi-backend serves it. The server and the mock differ in their handlers and in how a caller is known, and
 * in nothing else. Throws if the contract cannot be served.
 */
export async function createContractApi(deps: ContractApiDeps): Promise<ContractApi> {
  const { definition, permissions, handlers, authenticate, limit, permit, cache, send } = deps;
  const { runInTurn = atOnce, throttle = async () => {} } = deps;
  const { api, router } = await openContract(definition, permissions);

  const refusalOf = refusalsBy(api.validator, router);

  // What happens to a request, in this order. Each step throws if it refuses the request, and no later step runs then.
  api.register({
    // 1. Match.
    async notFound(_context: Context, request: ApiRequest) {
      await throttle(request.req);
      throw notFound(request, router);
    },
    async methodNotAllowed(_context: Context, request: ApiRequest) {
      await throttle(request.req);
      throw methodNotAllowed(request);
    },
  });
  api.registerSecurityHandler(SECURITY_SCHEME, async (_context, request: ApiRequest) => {
    // 2. Authenticate, 3. limit, 4. permit.
    await authenticate(request);
    await limit(request);
    permit(request);
    return true;
  });
  api.register({
    unauthorizedHandler: rethrow,
    // 5. Look in the cache, 6. read.
    postSecurityHandler({ security }, request: ApiRequest) {
      if (security['authorized'] !== true) return;
      if (cache !== undefined) findCached(request, cache);
      return readRequest(request);
    },
    // 7. Validate: openapi-backend does, unless `isKnownValid`.
    validationFail: ({ validation }: Context, request: ApiRequest) => refuseInvalid(request, validation.errors ?? []),
  });
  for (const { operationId } of router.getOperations()) {
    const handler = handlers[operationId];
    if (handler === undefined) throw new Error(`The operation ${operationId} of the contract has no handler.`);
    const responding = { handler, runInTurn, cache, refusalOf };
    // 8. Handle.
    api.register(operationId, (_context: Context, request: ApiRequest) => {
      // Validation sees one value of each field.
      if (request.repeatedFields.length > 0 || (!request.isKnownValid && textErrorsOf(request).length > 0))
        refuseInvalid(request, []);
      const limiting = limitBatch(request, limit);
      if (limiting !== undefined) return limiting.then(() => respond(request, responding));
      return request.cached ?? respond(request, responding);
    });
  }
  api.register({
    // 9. Send.
    postResponseHandler: ({ response }: { response: RenderedResponse }, request: ApiRequest) =>
      send(request, conditionalResponse(request.req, response)),
  });
  return {
    router,
    // An ApiRequest is openapi-backend's Request except for two types: Node lists absent headers as undefined, and a query
    // that was read by its schemas holds integers.
    handle: (request) => api.handleRequest(request as unknown as Request, request),
    async prepare() {
      for (const { operationId } of router.getOperations()) {
        await setImmediate();
        api.validator.getRequestValidatorsForOperation(operationId);
      }
    },
  };
}

/** openapi-backend with our router and our validator, which do at the start what it would do for each request. */
async function openContract(definition: Document, permissions: readonly string[]) {
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
  for (const operation of router.getOperations()) loosenChanges(operation);
  // Before handlers are registered: openapi-backend's own router searches the document anew for each of them.
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
  return { api, router };
}

/** Validates of a batch only what concerns the whole batch; each change is validated by itself. */
function loosenChanges({ countedField, requestBody }: ContractOperation): void {
  if (countedField === undefined) return;
  const { schema } = Object(requestBody).content['application/json'];
  const changes = schema.properties[countedField];
  changes.items = structureOfChange(changes.items);
}

/** The texts of a request that no operation accepts. Those of a batch's changes belong to the changes. */
function textErrorsOf({ params, query, requestBody, operation: { countedField } }: ApiRequest): ErrorObject[] {
  const isBatch = countedField !== undefined && isObject(requestBody);
  const body = isBatch ? { ...requestBody, [countedField]: undefined } : requestBody;
  return invalidTextsIn({ path: params, query, requestBody: body });
}

const atOnce: RunInTurn = (_request, work) => work();

const SEE_DOCUMENT = 'See the paths in the API document.';

function notFound({ url }: ApiRequest, router: ContractRouter): DomainError {
  const path = url.split('?', 1)[0] ?? '';
  return new DomainError('not_found', `There is nothing at this path. ${remedyFor(path, router)}`);
}

function remedyFor(path: string, router: ContractRouter): string {
  // The lookbehind makes it linear: otherwise the search would start again at each slash of a run that is not at the end.
  const shorter = path.replace(/(?<!\/)\/+$/, '');
  if (shorter === path) return SEE_DOCUMENT;
  const template = router.templateOf(shorter);
  const longer = router.templateOf(`${path}x`);
  // Without its value, "/by_external_id/{external_id}" looks like the value of another path, "/{id}".
  if (template !== shorter && longer?.startsWith(path)) return `Its last part is empty: ${longer}`;
  return template === undefined ? SEE_DOCUMENT : `Remove the slash at its end: ${shorter}`;
}

function methodNotAllowed({ method, allow }: ApiRequest): HttpError {
  return new HttpError('method_not_allowed', `${method} is not allowed. Allowed methods: ${allow}.`, { Allow: allow });
}

/** Rethrows what a security handler threw, so that an outage of the database is a 503 and not a 401. */
function rethrow({ security }: Context): never {
  throw security[SECURITY_SCHEME].error;
}

/** From Ajv's errors to a 422 that names each field and the remedy. */
function refuseInvalid(request: ApiRequest, found: readonly ErrorObject[]): never {
  const { repeated, repeatedFields, operation } = request;
  const violations = new Violations();
  for (const name of [...repeated, ...repeatedFields])
    violations.add(name, 'is sent more than once. Send it only once.');
  const places = new Set(repeated.map((name) => `/query/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`));
  violations.addAll(
    [...found, ...textErrorsOf(request)].filter(({ instancePath }) => !places.has(instancePath)),
    operation,
  );
  violations.throwIfAny();
  throw new Error('Validation failed without an error.');
}

/** Counts the items of a batch. The limit has already counted one for the request itself. */
function limitBatch(request: ApiRequest, limit: ContractApiDeps['limit']): Promise<void> | undefined {
  const { operation, requestBody } = request;
  if (operation.countedField === undefined) return;
  const items: unknown = Object(requestBody)[operation.countedField];
  request.requests = Array.isArray(items) ? items.length : 1;
  if (request.requests > 1) return limit(request, request.requests - 1) ?? undefined;
}

/** Validates the inputs of operations that a batch stands for, as their own requests are validated. */
function refusalsBy(validator: OpenAPIValidator<Document>, router: ContractRouter): RefusalOf {
  return (operationId, { path, headers, body }) => {
    const operation = router.getOperation(operationId);
    if (operation === undefined) throw new Error(`The contract has no operation ${operationId}.`);
    const parts = { path, query: {}, header: headers, cookie: {}, ...(body !== undefined && { requestBody: body }) };
    const found = (validator.getRequestValidatorsForOperation(operationId) ?? []).flatMap((validate) => {
      validate(parts);
      return validate.errors ?? [];
    });
    const violations = new Violations();
    violations.addAll([...found, ...invalidTextsIn({ path, requestBody: body })], operation);
    return violations.refusal();
  };
}

type Responding = {
  readonly handler: OperationHandler;
  readonly runInTurn: RunInTurn;
  readonly cache: ResponseCache | undefined;
  readonly refusalOf: RefusalOf;
};

async function respond(request: ApiRequest, responding: Responding): Promise<RenderedResponse> {
  const { handler, runInTurn, cache, refusalOf } = responding;
  const { operation, caller, url } = request;
  const handle = async () => {
    const { params: path, query, headers, requestBody: body } = request;
    const result = await handler({ path, query, headers, body, caller, refusalOf });
    return { response: render(operation, result), version: result.version };
  };
  const work = () => runInTurn(request, handle);
  return cache !== undefined && operation.isCacheable ? cache.render(caller, url, work) : (await work()).response;
}
