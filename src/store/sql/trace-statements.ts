import { AsyncLocalStorage } from 'node:async_hooks';
import { isPromise } from 'node:util/types';
import { codeOf } from '../../domain/errors.ts';
import type { SpanEnd, SpanStart, Tracing } from '../../observability/instruments/tracing.ts';
import type { Database } from './database.ts';

/** Records a span for each SQL statement that is sent within a recording span. The spans do not contain values of statements. */
export function traceStatements({ pool }: Pick<Database, 'pool'>, tracing: Tracing): void {
  // pg-pool calls the callback of a waiting request in the asynchronous context of the request that released the connection.
  // Without the binding, the statements would appear in the span of that other request.
  pool.connect = new Proxy(pool.connect, {
    apply: (connect, self, [callback]: unknown[]) =>
      Reflect.apply(connect, self, isCallback(callback) ? [AsyncLocalStorage.bind(callback)] : []),
  });
  pool.on('connect', (client) => {
    client.query = new Proxy(client.query, {
      apply: (query, self, parameters: unknown[]) =>
        measure(tracing, parameters, (sent) => Reflect.apply(query, self, sent)),
    });
  });
}

type Callback = (...results: unknown[]) => unknown;

function isCallback(value: unknown): value is Callback {
  return typeof value === 'function';
}

/**
 * Sends a statement and records its span. pg passes the outcome to a callback, which is the last parameter, or returns a promise.
 */
function measure(tracing: Tracing, parameters: unknown[], send: (parameters: unknown[]) => unknown): unknown {
  const isRecording = tracing.current()?.isRecording === true;
  const span = isRecording ? tracing.start(stepOf(parameters[0])) : undefined;
  if (span === undefined) return send(parameters);
  const end = (error: unknown) => span.end(endOf(error));
  const callback = parameters.at(-1);
  if (isCallback(callback)) {
    const endAndCall: Callback = (error, ...results) => {
      end(error);
      callback(error, ...results);
    };
    return send([...parameters.slice(0, -1), endAndCall]);
  }
  const result = send(parameters);
  if (isPromise(result)) result.then(() => end(null), end);
  return result;
}

/** Matches the names that `createNames` gives to statements of Prisma. */
const NUMBERED = /^prisma_\d+$/;
const TABLE = '\\s+(?:"?\\w+"?\\.)?"?(\\w+)';
const READ = new RegExp(`\\bfrom${TABLE}`, 'i');
/** Matches the part of a statement that writes. The "update" in "for update" and in "do update" does not begin such a part. */
const WRITE = new RegExp(`\\b(insert\\s+into|(?<!\\b(?:for|key|do)\\s+)update|delete\\s+from)${TABLE}`, 'i');

function stepOf(statement: unknown): SpanStart {
  const { name, text }: { name?: unknown; text?: unknown } = Object(statement);
  const sql = typeof statement === 'string' ? statement : String(text);
  const { operation, table } = describe(sql);
  const isNamed = typeof name === 'string' && name !== '' && !NUMBERED.test(name);
  const summary = isNamed ? name : [operation, table].filter((word) => word !== undefined).join(' ');
  return {
    name: summary,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': summary },
  };
}

/** Returns the operation, and the table that a statement writes, or the first table that it reads. */
function describe(sql: string): { operation: string; table: string | undefined } {
  const operation = /\w+/.exec(sql)?.[0].toUpperCase() ?? '';
  const [, write = '', written] = (operation === 'SELECT' ? null : WRITE.exec(sql)) ?? [];
  if (written !== undefined) return { operation: /\w+/.exec(write)?.[0].toUpperCase() ?? '', table: written };
  return { operation: operation === 'WITH' ? 'SELECT' : operation, table: READ.exec(sql)?.[1] };
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Returns the end of a statement's span. pg passes null or undefined if there is no error. */
function endOf(error: unknown): SpanEnd {
  if (error === null || error === undefined) return {};
  const code = codeOf(error);
  if (SQLSTATE.test(code)) return { error: code, attributes: { 'db.response.status_code': code } };
  return { error: code === '' ? 'unknown' : code };
}
