import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { Exchange, HEALTH, TIME_PARTS, type TimesByPart } from '../domain/request.ts';
import { Distribution } from './instruments/measures.ts';
import type { Span, SpanEnd, Tracing } from './instruments/tracing.ts';
import type { Logger } from './logs.ts';
import type { Observers } from './reporter.ts';

export type ObserveOptions = {
  readonly durations: RequestDurations;
  /** The duration from which a request counts as slow. */
  readonly slowMs: number;
};

/** Gives each request an id and a span. Logs the request when its response has been sent or its connection was closed. */
export function observeRequests(
  { logger, metrics, tracing }: Observers,
  { durations, slowMs }: ObserveOptions,
): RequestHandler {
  const onFinished: OnFinished | undefined =
    metrics &&
    (({ handledBy }, res, milliseconds) =>
      durations.record(handledBy, res.writableFinished ? res.statusCode : 'aborted', milliseconds / 1000));
  const log = createRequestLog(logger, { slowMs, onFinished });
  return (req, res, next) => {
    const exchange = new Exchange(randomUUID());
    res.locals = exchange;
    if (tracing === null) {
      log(req, res, exchange);
      return next();
    }
    const span = startRequestSpan(tracing, { req, res, exchange, slowMs });
    log(req, res, exchange, span.traceId);
    tracing.run(span, next);
  };
}

/** Called when the response to a request has been sent, or its connection was closed. */
type OnFinished = (exchange: Exchange, res: ServerResponse, milliseconds: number) => void;

/**
 * Returns a function that logs one line for a request when its response has been sent or its connection was closed. The line of
 * a slow request is a warning.
 */
export function createRequestLog(
  logger: Logger,
  { slowMs, onFinished }: { readonly slowMs: number; readonly onFinished?: OnFinished | undefined },
) {
  return (req: IncomingMessage, res: ServerResponse, exchange: Exchange, traceId?: string): void => {
    const { method, url = '/' } = req;
    res.on('close', () => {
      const milliseconds = performance.now() - exchange.startedAt;
      onFinished?.(exchange, res, milliseconds);
      if (res.statusCode === 503 && !exchange.isLogged) return;
      const isSlow = milliseconds >= slowMs;
      const level = levelOf(exchange, res, isSlow);
      if (!logger.isLevelEnabled(level)) return;
      const { requestId, handledBy: operation, changes, key, route } = exchange;
      // The logger leaves out members that are undefined. Spreading optional members would cost more than the rest of the object.
      const line = {
        requestId,
        traceId,
        method,
        path: pathOf(url),
        operation,
        status: res.statusCode,
        aborted: res.writableFinished ? undefined : true,
        milliseconds: tenthsOf(milliseconds),
        changes,
        organizationId: key?.organizationId,
        keyId: key?.id,
        integrationId: key?.integration?.id,
      };
      if (milliseconds >= LOGGED_MS && route !== undefined) Object.assign(line, loggedTimesOf(exchange.times));
      logger[level](line, isSlow ? 'slow request' : undefined);
    });
  };
}

/**
 * Returns the level of the log line. A successful health check has the level "debug", because a load balancer checks the health
 * every second.
 */
function levelOf({ handledBy }: Exchange, { statusCode }: ServerResponse, isSlow: boolean): 'debug' | 'info' | 'warn' {
  if (isSlow) return 'warn';
  return handledBy === HEALTH && statusCode === 200 ? 'debug' : 'info';
}

/** The shortest time of a part of a request that is logged, so that fast requests have short lines. */
const LOGGED_MS = 1;

/** Returns the members of a log line, such as `databaseMs`, for the parts of a request that took at least a millisecond. */
function loggedTimesOf(times: TimesByPart): Record<string, number> {
  const logged: Record<string, number> = {};
  for (const part of TIME_PARTS) if (times[part] >= LOGGED_MS) logged[`${part}Ms`] = tenthsOf(times[part]);
  return logged;
}

function tenthsOf(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}

const ID_CHARACTERS = 36;

/** Returns the path without the query and without any segment longer than an id, because a long segment may be a key. */
function pathOf(url: string): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (path.length <= ID_CHARACTERS) return path;
  const segments = path.split('/').map((segment) => (segment.length > ID_CHARACTERS ? '…' : segment));
  return segments.join('/').slice(0, 200);
}

/** The upper bounds of the ranges in seconds, from a cached response to the time limit of an SQL statement. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** The first digit of the status, or "aborted" if the client closed the connection before the end of the response. */
export type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'aborted';

const CLASSES: readonly StatusClass[] = ['1xx', '2xx', '3xx', '4xx', '5xx'];

/** The durations of requests in seconds, by operation and class of the status. Recording a duration allocates nothing. */
export class RequestDurations {
  readonly #byOperation = new Map<string, Map<StatusClass, Distribution>>();

  /** Records a duration. `operation` must be one of a few fixed names, not a value from the request. */
  record(operation: string, status: number | 'aborted', seconds: number): void {
    const statusClass = status === 'aborted' ? status : (CLASSES[Math.floor(status / 100) - 1] ?? '5xx');
    this.#distributionOf(operation, statusClass).record(seconds);
  }

  *entries(): Generator<{ operation: string; status: StatusClass; durations: Distribution }> {
    for (const [operation, byStatus] of this.#byOperation)
      for (const [status, durations] of byStatus) yield { operation, status, durations };
  }

  #distributionOf(operation: string, status: StatusClass): Distribution {
    let byStatus = this.#byOperation.get(operation);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.#byOperation.set(operation, byStatus);
    }
    let durations = byStatus.get(status);
    if (durations === undefined) {
      durations = new Distribution(BOUNDS);
      byStatus.set(status, durations);
    }
    return durations;
  }
}

/**
 * The methods that are recorded by name. Any other method is recorded as "_OTHER", because clients can invent any number of
 * methods.
 */
const METHODS: ReadonlySet<string | undefined> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);

/**
 * Starts the span of a request. The span ends when the response has been sent or the connection was closed. The span contains the
 * template of the path and what handled the request: an operation, or another part of the server. The path itself, the query and
 * the headers are omitted, because they can contain a key or identify an organization's rows.
 */
function startRequestSpan(
  tracing: Tracing,
  { req, res, exchange, slowMs }: { req: Request; res: ServerResponse; exchange: Exchange; slowMs: number },
): Span {
  const { traceparent } = req.headers;
  const method = METHODS.has(req.method) ? String(req.method) : '_OTHER';
  const span = tracing.startTrace(
    {
      name: method,
      kind: 'server',
      attributes: { 'http.request.method': method, 'http.response.header.x-request-id': [exchange.requestId] },
    },
    typeof traceparent === 'string' ? traceparent : undefined,
  );
  res.once('close', () => {
    // Pages are Express routes, so Express knows the template of their path.
    const path: unknown = exchange.route ?? req.route?.path;
    const route = typeof path === 'string' ? path : undefined;
    const milliseconds = performance.now() - exchange.startedAt;
    span.end(
      endOf(res, { method, operation: exchange.handledBy, route }),
      milliseconds < slowMs ? undefined : { milliseconds, times: exchange.route === undefined ? {} : exchange.times },
    );
  });
  return span;
}

type Handled = { readonly method: string; readonly operation: string; readonly route: string | undefined };

function endOf(res: ServerResponse, { method, operation, route }: Handled): SpanEnd {
  const { statusCode, headersSent } = res;
  return {
    name: [method === '_OTHER' ? 'HTTP' : method, ...(route === undefined ? [] : [route])].join(' '),
    attributes: {
      'charter.operation': operation,
      ...(route !== undefined && { 'http.route': route }),
      ...(headersSent && { 'http.response.status_code': statusCode }),
    },
    error: errorOf(res),
  };
}

function errorOf({ statusCode, writableFinished }: ServerResponse): string | undefined {
  if (!writableFinished) return 'aborted';
  return statusCode >= 500 ? String(statusCode) : undefined;
}
