import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { Exchange } from '../domain/exchange.ts';
import { logRequests } from './logs.ts';
import type { RequestDurations } from './metrics/request-durations.ts';
import type { Observers } from './observers.ts';
import { startRequestSpan } from './tracing/request-span.ts';

/** Gives each request its id, its span, and its line in the log once it has been answered or abandoned. */
export function observeRequests({ logger, metrics, tracing }: Observers, durations: RequestDurations): RequestHandler {
  const log = logRequests(
    logger,
    metrics &&
      (({ handledBy }, res, milliseconds) =>
        durations.record(handledBy, res.writableFinished ? res.statusCode : 'aborted', milliseconds / 1000)),
  );
  return (req, res, next) => {
    const exchange = new Exchange(randomUUID());
    res.locals = exchange;
    if (tracing === null) {
      log(req, res, exchange);
      return next();
    }
    const span = startRequestSpan(tracing, { req, res, exchange });
    log(req, res, exchange, span.traceId);
    tracing.run(span, next);
  };
}
