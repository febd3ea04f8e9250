import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Exchange } from '../../domain/exchange.ts';
import type { Span, SpanEnd, Tracing } from '../instruments/tracing.ts';

/** Any other method is recorded as "_OTHER", because clients can make up any number of them. */
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
 * Starts the span of a request, which ends when the response has been sent or the connection closed. The span names the template
 * of the path, and the operation or part of the server that handled the request. The path, the query and the headers are left
 * out, because they can contain a key, or name an organization's rows.
 */
export function startRequestSpan(
  tracing: Tracing,
  { req, res, exchange }: { readonly req: Request; readonly res: ServerResponse; readonly exchange: Exchange },
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
    // The pages are routes of Express.
    const path: unknown = exchange.route ?? req.route?.path;
    const route = typeof path === 'string' ? path : undefined;
    span.end(endOf(res, { method, operation: exchange.handledBy, route }));
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
