import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { type Exchange, HEALTH } from '../domain/exchange.ts';
import { describeError } from './describe-error.ts';

export type { Logger };

export type LogOptions = {
  /** Members of every line. */
  readonly base?: Readonly<Record<string, unknown>>;
  /** Standard output by default. */
  readonly output?: Writable & { readonly isTTY?: boolean };
};

/** Logs JSON lines, or readable rows on a terminal. Nothing logs an Authorization header, a key or a query, which may be private. */
export function createLogger(level: string, { base, output = process.stdout }: LogOptions = {}): Logger {
  const serializers = { err: (error: unknown) => ({ stack: describeError(error) }) };
  const options = { level, base: base ?? null, timestamp: createTimestamp(), serializers };
  return pino(options, output.isTTY === true ? createRows(output) : createBlocks(output));
}

/** Writes one row for each line. The stack of an error follows in rows of its own. */
function createRows(output: Writable): { write: (line: string) => void } {
  const format = prettyFactory({ translateTime: 'HH:MM:ss', hideObject: true, messageFormat: rowOf });
  output.on('error', () => {});
  return {
    write(line) {
      output.write(format(line));
    },
  };
}

type Members = Readonly<Record<string, unknown>>;

function rowOf({ level: _level, time: _time, msg, err, error, ...members }: Members): string {
  const { method, path, status, milliseconds, ...others } = members;
  const request = method === undefined ? [] : [method, path, status, milliseconds, 'ms'];
  const named = Object.entries(others).map(([name, value]) => `${name}=${textOf(value)}`);
  const row = [msg, ...request, ...named].filter((word) => word !== undefined).join(' ');
  const stack = String(Object(err).stack ?? error ?? '');
  return [row, ...stack.split('\n')]
    .filter((text) => text !== '')
    .map(printable)
    .join('\n');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A path may contain escape sequences, which a terminal would carry out. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\u{fffd}');
}

/** pino's isoTime, formatted once a millisecond. Formatting takes a tenth of the time of a line. */
function createTimestamp(): () => string {
  let formattedAt = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== formattedAt) {
      formattedAt = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

const BLOCK_BYTES = 32 * 1024;
const FLUSH_MS = 200;

/**
 * Writes lines in blocks, at most 200 ms late: one write for each request costs as much as its validation. Not pino's own
 * destination, which at exit retries for ever if the reader is gone.
 */
function createBlocks(output: Writable): { write: (line: string) => void } {
  // Bytes, because concatenating many strings takes longer than encoding the lines.
  let lines: Buffer[] = [];
  let blockBytes = 0;
  const flush = () => {
    if (blockBytes > 0) output.write(Buffer.concat(lines));
    lines = [];
    blockBytes = 0;
  };
  output.on('error', () => {});
  setInterval(flush, FLUSH_MS).unref();
  process.on('exit', flush);
  return {
    write(line) {
      const bytes = Buffer.from(line);
      lines.push(bytes);
      blockBytes += bytes.length;
      if (blockBytes >= BLOCK_BYTES) flush();
    },
  };
}

/** Called after the response to a request was sent, or its connection closed. */
type OnFinished = (exchange: Exchange, res: ServerResponse, milliseconds: number) => void;

/** Logs one line for each request, after its response was sent or its connection closed. */
export function logRequests(logger: Logger, onFinished?: OnFinished) {
  return (req: IncomingMessage, res: ServerResponse, exchange: Exchange, traceId?: string): void => {
    const startedAt = performance.now();
    const { method, url = '/' } = req;
    res.on('close', () => {
      const milliseconds = performance.now() - startedAt;
      onFinished?.(exchange, res, milliseconds);
      if (res.statusCode === 503 && !exchange.isLogged) return;
      // A load balancer asks each second.
      const level = exchange.handledBy === HEALTH && res.statusCode === 200 ? 'debug' : 'info';
      if (level === 'debug' && !logger.isLevelEnabled(level)) return;
      logger[level]({
        requestId: exchange.requestId,
        traceId,
        method,
        path: pathOf(url),
        status: res.statusCode,
        ...(!res.writableFinished && { aborted: true }),
        milliseconds: Math.round(milliseconds * 10) / 10,
        keyId: exchange.key?.id,
        integrationId: exchange.key?.integration?.id,
      });
    });
  };
}

const ID_CHARACTERS = 36;

/** Omits the query, and any segment longer than an id, which may be a key. */
function pathOf(url: string): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (path.length <= ID_CHARACTERS) return path;
  const segments = path.split('/').map((segment) => (segment.length > ID_CHARACTERS ? '…' : segment));
  return segments.join('/').slice(0, 200);
}
