import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import express from 'express';
import { ApiRequest } from '../../src/api/api-request.ts';
import { apiMiddleware } from '../../src/api/middleware.ts';
import type { OperationHandler } from '../../src/api/operation.ts';
import { originFormOf } from '../../src/api/request-head.ts';
import { createRefuse, createSend, type Refuse } from '../../src/api/send.ts';
import { createAjv } from '../../src/contract/contract.ts';
import { type Operation, operationsOf } from '../../src/contract/document.ts';
import type { Environment } from '../../src/domain/api-key.ts';
import { Exchange } from '../../src/domain/exchange.ts';
import { apiSecurityHeaders } from '../../src/security-headers.ts';
import type { Assets } from './assets.ts';
import { createBatchHandler, isBatch } from './batch-handler.ts';
import { type Control, createControl } from './control.ts';
import { controlRoutes } from './control-routes.ts';
import { createCors } from './cors.ts';
import { createDataSet, type DataSet } from './data-set.ts';
import { documentRoutes } from './document-routes.ts';
import { createForcedResponses } from './forced-response.ts';
import { createMockApi } from './mock-api.ts';
import { createHandler } from './operation-handler.ts';
import type { Overrides } from './overrides.ts';
import { OwnBodies } from './own-body.ts';
import { createPreferenceNotes } from './preference-notes.ts';
import { readPreferences } from './preferences.ts';
import type { MockRateLimits } from './rate-limits.ts';
import { createRequestCheck, problemsOf, type RequestCheck } from './request-check.ts';
import type { RequestLog } from './request-log.ts';
import { createSeedReader } from './seed-data.ts';
import { createStatefulHandler } from './stateful-handler.ts';
import { Store } from './store.ts';
import { createUpsertHandler, isUpsert } from './upsert-handler.ts';

export type MockListenerOptions = {
  /** The environment whose keys are accepted. */
  readonly environment: Environment;
  /** Generates data in place of the contract's examples; the same text generates the same data. */
  readonly dynamicSeed: string | undefined;
  /** Keeps what requests create, change and delete. */
  readonly isStateful: boolean;
  /** With `isStateful`, the data to begin with. The contract's examples if it is `undefined`. */
  readonly seed: unknown;
  readonly overrides: Overrides;
  readonly rateLimits: MockRateLimits;
  readonly log: RequestLog;
  readonly now: () => Date;
  /** Called with every bug of the mock itself. */
  readonly onFault: (error: unknown) => void;
  /** Called with a sentence about something that the mock does not do. */
  readonly onWarning: (warning: string) => void;
  /** Called with the origin of the web page that sent a request. */
  readonly onBrowser: (origin: string) => void;
};

export type MockListener = { readonly listener: RequestListener; readonly control: Control };

/** Responds as the server would, without a database. Rejects where the document cannot be served, or the seed is not valid. */
export async function createMockListener(assets: Assets, options: MockListenerOptions): Promise<MockListener> {
  const { environment, isStateful, overrides, rateLimits, log, now, onFault, onWarning, onBrowser } = options;
  const { document } = assets;
  const json = { ...document };
  const ajv = createAjv();
  const operations = operationsOf(json);
  const data = createDataSet({ operations, ajv, seed: options.dynamicSeed });
  const readSeed = createSeedReader({ operations, lists: data.collections.map(({ path }) => path), ajv, now });
  const seed = options.seed === undefined ? undefined : readSeed(options.seed);
  const store = isStateful ? new Store({ collections: data.collections, now, onLimit: onWarning }, seed) : undefined;
  const control = createControl({ operations, ajv, overrides, rateLimits, log, store, readSeed, seed });
  const ownBodies = new OwnBodies();
  const otherHandlers = new Map<string, OperationHandler>();
  let otherData: DataSet | undefined;
  /** The data that the mock was not started with are made at the first request for them. */
  const dataOf = (isDynamic = data.isDynamic) => {
    if (isDynamic === data.isDynamic) return data;
    otherData ??= createDataSet({ operations, ajv, seed: isDynamic ? randomUUID() : undefined });
    return otherData;
  };

  const notes = createPreferenceNotes(onWarning);
  const unlogged = notes.sendWith(createSend(apiSecurityHeaders()));
  const send = log.sendWith(unlogged);
  const handlerOf = (operation: Operation): OperationHandler => {
    const stateless = createHandler(operation, { ajv, data, ownBodies });
    const changing = { operations, collections: data.collections, handlerOf, stateless, store, ownBodies };
    if (isBatch(operation)) return createBatchHandler(operation, changing);
    if (isUpsert(operation)) return createUpsertHandler(operation, changing);
    const own =
      store === undefined
        ? stateless
        : createStatefulHandler(operation, { ajv, data, ownBodies, store, now, stateless });
    return async (input) => {
      const asked = dataOf(readPreferences(input.headers['prefer']).dynamic);
      if (asked === data) return own(input);
      const other =
        otherHandlers.get(operation.operationId) ?? createHandler(operation, { ajv, data: asked, ownBodies });
      otherHandlers.set(operation.operationId, other);
      return other(input);
    };
  };
  const api = await createMockApi(document, {
    operations,
    handlerOf,
    environmentOf: () => environment,
    limit: (request, further) => rateLimits.limit(request, further),
    send,
  });
  const respondTo = createRefuse({ send, onFault });
  const refuse: Refuse = (request, error) => {
    log.note(request, problemsOf(error));
    respondTo(request, error);
  };
  const { answerError } = apiMiddleware(api, createRefuse({ send: unlogged, onFault }));
  const allowEveryOrigin = createCors(operations, onBrowser);
  let check: Promise<RequestCheck> | undefined;
  const forceResponse = createForcedResponses({
    router: api.router,
    operations,
    overrides,
    ownBodies,
    notes,
    async onForced(request, { bytes }) {
      check ??= createRequestCheck(document);
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
  // Before CORS, because the server lets pages of any origin read the document, too.
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
