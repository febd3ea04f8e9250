import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import express from 'express';
import { ApiRequest } from '../../src/api/api-request.ts';
import { createAjv, type Document } from '../../src/api/contract.ts';
import { operationsOf } from '../../src/api/document.ts';
import { errorHandler } from '../../src/api/error-handler.ts';
import { originFormOf } from '../../src/api/request-target.ts';
import { createSend } from '../../src/api/response.ts';
import type { Environment } from '../../src/domain/api-key.ts';
import { apiSecurityHeaders } from '../../src/security-headers.ts';
import { createCollections } from './collection.ts';
import { createCors } from './cors.ts';
import { createForcedResponses } from './forced-response.ts';
import { createMockApi } from './mock-api.ts';
import { createHandler } from './operation-handler.ts';
import { createResponseSource } from './response-source.ts';

export type MockListenerOptions = {
  /** The environment whose keys are accepted. */
  readonly environment: Environment;
  /** Generates data in place of the contract's examples; the same seed generates the same data. */
  readonly seed: string | undefined;
  /** Called with every bug of the mock itself. */
  readonly onFault: (error: unknown) => void;
};

/** Responds as the server would, from the contract's examples. Rejects where the document cannot be served. */
export async function createMockListener(document: Document, options: MockListenerOptions): Promise<RequestListener> {
  const { environment, seed, onFault } = options;
  const json = { ...document };
  const isDynamic = seed !== undefined;
  const ajv = createAjv();
  const operations = operationsOf(json);
  const source = await createResponseSource(json, { ajv, seed });
  const collections = await createCollections(operations, { ajv, source, isDynamic });
  const send = createSend(apiSecurityHeaders());
  const api = await createMockApi(document, {
    operations,
    handlerOf: (operation) => createHandler(operation, { ajv, source, collections }),
    environmentOf: () => environment,
    send,
  });
  const allowEveryOrigin = createCors(operations);
  const forceResponse = createForcedResponses({ router: api.router, operations, source, isDynamic, send });

  const app = express();
  app.disable('x-powered-by');
  app.use((req, res, next) => {
    res.locals = { requestId: randomUUID() };
    if (!allowEveryOrigin(req, res)) next();
  });
  app.use(async (req, res, next) => {
    if (!(await forceResponse(new ApiRequest(req, res, res.locals['requestId'])))) next();
  });
  app.use(api.middleware);
  app.use(errorHandler({ send, onFault }));
  return (req, res) => {
    req.url = originFormOf(req.url ?? '/');
    app(req, res);
  };
}
