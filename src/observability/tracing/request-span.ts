import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Span, SpanEnd, Tracing } from '../instruments/tracing.ts';

/** Which part of the server handled a request. None of the values comes from the request itself. */
export type Handled = {
  /** As in the metrics. */
  readonly operation: string;
  /** The template of the path, such as /api/parent_programs/{id}. Undefined: there is none. */
  readonly route: string | undefined;
};

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
 * Starts the span of a request, which ends when the response has been sent or the connection closed; `handledBy` is asked then.
 * The path, the query and the headers are left out, because they can contain a key, or name an organization's rows.
 */
export function startRequestSpan<Req extends IncomingMessage>(
  tracing: Tracing,
  { req, res, requestId }: { readonly req: Req; readonly res: ServerResponse; readonly requestId: string },
  handledBy: (req: Req) => Handled,
): Span {
  const { traceparent } = req.headers;
  const method = METHODS.has(req.method) ? String(req.method) : '_OTHER';
  const span = tracing.startTrace(
    {
      name: method,
      kind: 'server',
      attributes: { 'http.request.method': method, 'http.response.header.x-request-id': [requestId] },
    },
    typeof traceparent === 'string' ? traceparent : undefined,
  );
  res.once('close', () => span.end(endOf(res, { method, ...handledBy(req) })));
  return span;
}

function endOf(res: ServerResponse, { method, operation, route }: Handled & { readonly method: string }): SpanEnd {
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
