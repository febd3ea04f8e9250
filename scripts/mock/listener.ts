import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import express from 'express';
import { ApiRequest } from '../../src/api/api-request.ts';
import { apiMiddleware } from '../../src/api/middleware.ts';
import type { OperationHandler } from '../../src/api/operation.ts';
import { createRefuse } from '../../src/api/refuse.ts';
import { originFormOf } from '../../src/api/request-target.ts';
import { createSend } from '../../src/api/send.ts';
import { createAjv, type Document } from '../../src/contract/contract.ts';
import { type Operation, operationsOf } from '../../src/contract/document.ts';
import type { Environment } from '../../src/domain/api-key.ts';
import { Exchange } from '../../src/domain/exchange.ts';
import { apiSecurityHeaders } from '../../src/security-headers.ts';
import { controlRoutes } from './control-routes.ts';
import { createCors } from './cors.ts';
import { createDataSet, type DataSet } from './data-set.ts';
import { createForcedResponses } from './forced-response.ts';
import { createMockApi } from './mock-api.ts';
import { createHandler } from './operation-handler.ts';
import type { Overrides } from './overrides.ts';
import { createPreferenceNotes } from './preference-notes.ts';
import { readPreferences } from './preferences.ts';
import { createStatefulHandler } from './stateful-handler.ts';
import { Store } from './store.ts';

export type MockListenerOptions = {
  /** The environment whose keys are accepted. */
  readonly environment: Environment;
  /** Generates data in place of the contract's examples; the same seed generates the same data. */
  readonly seed: string | undefined;
  /** Keeps what requests create, change and delete. */
  readonly isStateful: boolean;
  readonly overrides: Overrides;
  readonly now: () => Date;
  /** Called with every bug of the mock itself. */
  readonly onFault: (error: unknown) => void;
  /** Called with a sentence about something that the mock does not do. */
  readonly onWarning: (warning: string) => void;
  /** Called with the origin of the web page that sent a request. */
  readonly onBrowser: (origin: string) => void;
};

/** Responds as the server would, without a database. Rejects where the document cannot be served. */
export async function createMockListener(document: Document, options: MockListenerOptions): Promise<RequestListener> {
  const { environment, isStateful, overrides, now, onFault, onWarning, onBrowser } = options;
  const json = { ...document };
  const ajv = createAjv();
  const operations = operationsOf(json);
  const data = await createDataSet(json, { operations, ajv, seed: options.seed });
  const store = isStateful ? new Store({ collections: data.collections, now, onLimit: onWarning }) : undefined;
  const otherHandlers = new Map<string, OperationHandler>();
  let otherData: Promise<DataSet> | undefined;
  /** The data that the mock was not started with are made at the first request for them. */
  const dataOf = async (isDynamic = data.isDynamic) => {
    if (isDynamic === data.isDynamic) return data;
    otherData ??= createDataSet(json, { operations, ajv, seed: isDynamic ? randomUUID() : undefined });
    return otherData;
  };

  const notes = createPreferenceNotes(onWarning);
  const send = notes.sendWith(createSend(apiSecurityHeaders()));
  const handlerOf = (operation: Operation): OperationHandler => {
    const stateless = createHandler(operation, { ajv, data });
    const own =
      store === undefined ? stateless : createStatefulHandler(operation, { ajv, data, store, now, stateless });
    return async (input) => {
      const asked = await dataOf(readPreferences(input.headers['prefer']).dynamic);
      if (asked === data) return own(input);
      const other = otherHandlers.get(operation.operationId) ?? createHandler(operation, { ajv, data: asked });
      otherHandlers.set(operation.operationId, other);
      return other(input);
    };
  };
  const api = await createMockApi(document, { operations, handlerOf, environmentOf: () => environment, send });
  const refuse = createRefuse({ send, onFault });
  const { answer, answerError } = apiMiddleware(api, refuse);
  const allowEveryOrigin = createCors(operations, onBrowser);
  const forceResponse = createForcedResponses({ router: api.router, operations, overrides, notes, dataOf, send });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((req, res, next) => {
    res.locals = new Exchange(randomUUID());
    if (!allowEveryOrigin(req, res)) next();
  });
  app.use(await controlRoutes({ document: json, operations, overrides, store }));
  app.use(async (req, res, next) => {
    const request = new ApiRequest(req, res, Exchange.of(res));
    try {
      if (!(await forceResponse(request))) next();
    } catch (error) {
      refuse(request, error);
    }
  });
  app.use(answer);
  app.use(answerError);
  return (req, res) => {
    req.url = originFormOf(req.url ?? '/');
    app(req, res);
  };
}
