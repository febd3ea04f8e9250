import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import express from 'express';
import { ApiRequest } from '../../src/api/api-request.ts';
import { createApiMiddleware } from '../../src/api/contract-api.ts';
import { presentKey } from '../../src/api/key-steps.ts';
import type { OperationHandler } from '../../src/api/operation.ts';
import { createSend, createSendException, type SendException } from '../../src/api/response.ts';
import { originFormOf } from '../../src/api/unreadable-request.ts';
import { createAjv } from '../../src/contract/contract.ts';
import { type Operation, operationsOf } from '../../src/contract/document.ts';
import type { Environment } from '../../src/domain/keys/api-key.ts';
import { Exchange } from '../../src/domain/request.ts';
import { apiSecurityHeaders } from '../../src/security-headers.ts';
import { listen } from '../../src/server.ts';
import { type Assets, documentRoutes } from './assets.ts';
import { createBatchHandler, isBatch } from './batch-handler.ts';
import { type Control, createControl } from './control.ts';
import { controlRoutes } from './control-routes.ts';
import { createCors, warnOfBrowsers } from './cors.ts';
import { createDataSet, type DataSet } from './data-set.ts';
import { createForcedResponses } from './forced-response.ts';
import { createMockApi, FIRST_ORGANIZATION, MockKeys, mockKey } from './mock-api.ts';
import { createHandler } from './operation-handler.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from './options.ts';
import { Overrides, OwnBodies } from './overrides.ts';
import { createOwnIdHandler, isByOwnId } from './own-id-handlers.ts';
import { createPreferenceNotes, preferenceOf, readPreferences, sendOrDisconnect } from './prefer.ts';
import { type MockLimits, MockRateLimits } from './rate-limits.ts';
import { createRequestCheck, problemsOf, type RequestCheck } from './request-check.ts';
import { RequestLog, requestLine } from './request-log.ts';
import { createSeedReader } from './seed-data.ts';
import { createStatefulHandler } from './stateful-handler.ts';
import { type Store, Stores } from './store.ts';

export type MockOptions = {
  /** The port. The default is 4010; 0 stands for any free port. */
  readonly port?: number;
  readonly host?: string;
  /** The environment whose keys are accepted. The default is live. */
  readonly environment?: Environment;
  /**
   * The seed of generated data. With a seed, the data is generated instead of taken from the contract's examples. The same seed
   * gives the same data.
   */
  readonly dynamicSeed?: string | undefined;
  /** Whether later requests see what earlier ones created, changed and deleted. */
  readonly isStateful?: boolean;
  /** The initial data of a stateful mock: items by the name of their list. The default is the contract's examples. */
  readonly seed?: unknown;
  /** The limits in requests per second. The default is the limits of a server. */
  readonly limits?: MockLimits | undefined;
  /** The clock of the rate limits. Returns milliseconds, which never decrease. */
  readonly clock?: (() => number) | undefined;
  /** Returns the time that new and changed items get. */
  readonly now?: () => Date;
  /** Called with one line for each request, warning and fault. */
  readonly print?: (line: string) => void;
};

export type Mock = {
  readonly url: string;
  /** An API key to use with the mock, which accepts every well-formed key. */
  readonly key: string;
  readonly overrides: Overrides;
  readonly log: RequestLog;
  readonly control: MockListener['control'];
  /** Replaces the document that is served. Rejects if the new document cannot be served. */
  serve(contract: Pick<Assets, 'document' | 'yaml'>): Promise<void>;
  /** Closes the mock at once, without waiting for clients. */
  close(): Promise<void>;
};

/**
 * Starts a mock. It responds like a server, but with the contract's examples and without a database. Rejects if the port is in
 * use.
 */
export async function openMock(assets: Assets, options: MockOptions = {}): Promise<Mock> {
  const { port = DEFAULT_PORT, host = DEFAULT_HOST, environment = 'live', isStateful = false } = options;
  const { dynamicSeed, seed, limits, clock, now = () => new Date(), print = () => {} } = options;
  const overrides = new Overrides();
  const log = new RequestLog(now);
  const keys = new MockKeys();
  const setup: MockSetup = {
    ...{ environment, isStateful, dynamicSeed, seed, now, overrides, log },
    keys,
    rateLimits: new MockRateLimits((hash) => keys.get(hash).organizationId, limits, clock),
    onFault: (error) => print(`The mock itself failed: ${error instanceof Error ? error.stack : String(error)}`),
    onWarning: (warning) => print(`Warning: ${warning}`),
    onBrowser: warnOfBrowsers(print),
  };
  let current = await createMockListener(assets, setup);
  const listening = await listen(
    (req, res) => {
      const { method, url } = req;
      res.once('close', () => {
        print(requestLine({ method, url }, res.writableFinished ? res.statusCode : 'the connection was closed'));
      });
      current.listener(req, res);
    },
    { host, port },
  );
  return {
    url: listening.url,
    key: mockKey(environment),
    overrides,
    log,
    get control() {
      return current.control;
    },
    async serve(contract) {
      current = await createMockListener({ ...assets, ...contract }, setup);
    },
    close: () => listening.abort(),
  };
}

/** The parts of the mock that remain when the contract is edited. */
type MockSetup = Required<Pick<MockOptions, 'environment' | 'isStateful' | 'dynamicSeed' | 'seed' | 'now'>> & {
  readonly overrides: Overrides;
  readonly keys: MockKeys;
  readonly rateLimits: MockRateLimits;
  readonly log: RequestLog;
  /** Called with each bug of the mock itself. */
  readonly onFault: (error: unknown) => void;
  /** Called with a sentence about something that the mock does not do. */
  readonly onWarning: (warning: string) => void;
  /** Called with the origin of the web page that sent a request. */
  readonly onBrowser: (origin: string) => void;
};

type Chosen = { readonly operation: Operation; readonly stateless: OperationHandler };

type MockListener = { readonly listener: RequestListener; readonly control: Control };

/** Creates the request listener of the mock. Rejects if the document cannot be served or the seed is invalid. */
async function createMockListener(assets: Assets, setup: MockSetup): Promise<MockListener> {
  const { environment, isStateful, overrides, keys, rateLimits, log, now, onFault, onWarning, onBrowser } = setup;
  const { document } = assets;
  const json = { ...document };
  const ajv = createAjv();
  const operations = operationsOf(json);
  const data = createDataSet({ operations, ajv, seed: setup.dynamicSeed });
  const readSeed = createSeedReader({ operations, lists: data.collections.map(({ path }) => path), ajv, now });
  const seed = setup.seed === undefined ? undefined : readSeed(setup.seed);
  const stores = isStateful ? new Stores({ collections: data.collections, now, onLimit: onWarning }, seed) : undefined;
  const control = createControl({
    ...{ operations, ajv, overrides, keys, environment, rateLimits, log, stores, readSeed, seed },
  });
  const ownBodies = new OwnBodies();
  const otherHandlers = new Map<string, OperationHandler>();
  let otherData: DataSet | undefined;
  /**
   * Returns generated data or the contract's examples. The mock starts with one of them, and creates the other when it is first
   * needed.
   */
  const dataOf = (isDynamic = data.isDynamic) => {
    if (isDynamic === data.isDynamic) return data;
    otherData ??= createDataSet({ operations, ajv, seed: isDynamic ? randomUUID() : undefined });
    return otherData;
  };

  const notes = createPreferenceNotes(onWarning);
  const transmit = sendOrDisconnect(createSend(apiSecurityHeaders()));
  const send = notes.sendWith(log.sendWith(transmit));
  /**
   * Returns a handler. If the request names an example, or if the mock was given a body for the request, the handler sends that
   * example or body unchanged and does not change the store. Otherwise it calls `own`.
   */
  const orChosen =
    (own: OperationHandler, { operation, stateless }: Chosen): OperationHandler =>
    async (input) => {
      const isExample = preferenceOf(input.headers['prefer'], operation)?.example !== undefined;
      if (!isExample && ownBodies.find(input.headers) === undefined) return own(input);
      // If-Match contains the ETag of the stored item, but `stateless` would compare it with the ETag of the example.
      if (isStateful) delete input.headers['if-match'];
      return stateless(input);
    };
  /** Returns a handler that reads and changes the store of one organization. */
  const handlerIn = (store: Store | undefined, operation: Operation): OperationHandler => {
    const stateless = createHandler(operation, { ajv, data, ownBodies });
    const handlerOf = (other: Operation) => handlerIn(store, other);
    const changing = { operations, collections: data.collections, handlerOf, store };
    if (isBatch(operation)) return orChosen(createBatchHandler(operation, changing), { operation, stateless });
    if (isByOwnId(operation)) return orChosen(createOwnIdHandler(operation, changing), { operation, stateless });
    const kept = store && createStatefulHandler(operation, { ajv, data, store, now, stateless });
    const own = kept === undefined ? stateless : orChosen(kept, { operation, stateless });
    return async (input) => {
      const asked = dataOf(readPreferences(input.headers['prefer']).dynamic);
      if (asked === data) return own(input);
      const other =
        otherHandlers.get(operation.operationId) ?? createHandler(operation, { ajv, data: asked, ownBodies });
      otherHandlers.set(operation.operationId, other);
      return other(input);
    };
  };
  /** Returns a handler that passes a request to the handler of the organization of its key. */
  const handlerOf = (operation: Operation): OperationHandler => {
    const create = (organizationId: string) => handlerIn(stores?.of(organizationId), operation);
    const handlers = new Map([[FIRST_ORGANIZATION, create(FIRST_ORGANIZATION)]]);
    const own: OperationHandler = async (input) => {
      const { organizationId } = input.caller.scope;
      const handler = handlers.get(organizationId) ?? create(organizationId);
      handlers.set(organizationId, handler);
      return handler(input);
    };
    if (operation.operationId !== 'getKey') return own;
    const ofKey: OperationHandler = async (input) => {
      const { status, headers, body } = await own(input);
      return {
        status,
        headers,
        body: { ...Object(body), ...(keys.isCreated(input.caller) && presentKey(input.caller)) },
      };
    };
    return orChosen(ofKey, { operation, stateless: own });
  };
  const api = await createMockApi(document, {
    operations,
    handlerOf,
    keys,
    environmentOf: () => environment,
    limit: (request) => rateLimits.limit(request),
    send,
  });
  const respondTo = createSendException({ send, onFault });
  const refuse: SendException = (request, error) => {
    log.note(request, problemsOf(error));
    respondTo(request, error);
  };
  const { answerError } = createApiMiddleware(api, createSendException({ send: notes.sendWith(transmit), onFault }));
  const allowEveryOrigin = createCors(operations, onBrowser);
  let check: Promise<RequestCheck> | undefined;
  const forceResponse = createForcedResponses({
    router: api.router,
    operations,
    overrides,
    ownBodies,
    notes,
    async onForced(request, { bytes }) {
      check ??= createRequestCheck(document, keys);
      const refusal = await (await check)(request.req, bytes);
      if (refusal !== null) log.note(request, refusal.problems);
    },
    dataOf,
    rateLimits,
    send,
    refuse,
  });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_req, res, next) => {
    res.locals = new Exchange(randomUUID());
    next();
  });
  // These routes come before `allowEveryOrigin`, which warns about web pages: a server also lets every web page read the
  // document.
  app.use(documentRoutes(assets));
  app.use((req, res, next) => {
    if (!allowEveryOrigin(req, res)) next();
  });
  app.use(controlRoutes({ assets, operations, control, overrides, log, isStateful, isSeeded: seed !== undefined }));
  app.use(async (req, res) => {
    const request = await forceResponse(new ApiRequest(req, res, Exchange.of(res)));
    if (request !== null) await api.handle(request).catch((error: unknown) => refuse(request, error));
  });
  app.use(answerError);
  const listener: RequestListener = (req, res) => {
    req.url = originFormOf(req.url ?? '/');
    app(req, res);
  };
  return { listener, control };
}
