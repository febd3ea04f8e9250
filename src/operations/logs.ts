import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { describeError } from './describe-error.ts';

export type { Logger };

/** Logs JSON lines, or readable lines on a terminal. Nothing logs an Authorization header, a key or a query, which may be private. */
export function createLogger(level: string): Logger {
  const serializers = { err: (error: unknown) => ({ stack: describeError(error) }) };
  const options = { level, base: null, timestamp: createTimestamp(), serializers };
  if (process.stdout.isTTY) return pino(options, pretty({ translateTime: 'HH:MM:ss', ignore: 'pid,hostname' }));
  return pino(options, createBlocks(process.stdout));
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
function createBlocks(output: NodeJS.WriteStream): { write: (line: string) => void } {
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

const unlogged = new WeakSet<ServerResponse>();

/** Omits the line of a request that was refused under load: such refusals are counted instead. */
export function omitRequestLine(res: ServerResponse): void {
  unlogged.add(res);
}

/** Logs one line for each request, after its response was sent or its connection closed. */
export function logRequests(logger: Logger) {
  return (req: IncomingMessage, res: ServerResponse, requestId: string): void => {
    const startedAt = performance.now();
    const { method, url = '/' } = req;
    res.on('close', () => {
      if (res.statusCode === 503 && unlogged.has(res)) return;
      logger.info({
        requestId,
        method,
        path: pathOf(url),
        status: res.statusCode,
        ...(!res.writableFinished && { aborted: true }),
        milliseconds: Math.round((performance.now() - startedAt) * 10) / 10,
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
