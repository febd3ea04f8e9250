import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { type Exchange, send } from '../../src/api/answer.ts';
import { originFormOf } from '../../src/api/request-target.ts';
import { match, serve } from '../../src/api/serve.ts';
import { allowAnyOrigin, answerPreflight, isPreflight } from './cors.ts';
import { answerForced } from './forced.ts';
import type { MockService } from './service.ts';

export type ListenerDeps = {
  /** Read at every request: an edit of the contract replaces it. */
  readonly service: () => MockService;
  readonly isDynamic: boolean;
  readonly onFault: (error: unknown) => void;
};

export function createListener({ service, isDynamic, onFault }: ListenerDeps): RequestListener {
  return async (req, res) => {
    try {
      const serving = service();
      req.url = originFormOf(req.url ?? '/');
      allowAnyOrigin(res, serving.exposed);
      if (isPreflight(req)) return answerPreflight(req, res);
      const exchange = { req, res, requestId: randomUUID() };
      if (await isForced(exchange, { serving, isDynamic })) return;
      await serve(exchange, { ...serving, send, onFault });
    } catch (error) {
      // One connection ends; the mock lives.
      onFault(error);
      res.destroy();
    }
  };
}

async function isForced(
  exchange: Exchange,
  { serving, isDynamic }: { serving: MockService; isDynamic: boolean },
): Promise<boolean> {
  const { req } = exchange;
  const called = req.headers['prefer'] === undefined ? undefined : matchOrNone(serving, req);
  const operation = serving.operations.find(({ operationId }) => operationId === called?.plan.operationId);
  if (called === undefined || operation === undefined) return false;
  return answerForced(exchange, { ...called, operation, source: serving.source, isDynamic });
}

/** Undefined: the server's own code will say why. */
function matchOrNone({ routes }: MockService, req: IncomingMessage) {
  try {
    return match(routes, req);
  } catch {
    return undefined;
  }
}
