import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type { Logger };

/** JSON lines; on a terminal, lines for people. Never an Authorization header, a key or a query: a search may be private. */
export function createLogger(level: string): Logger {
  const options = { level, base: null, timestamp: createTimestamp() };
  if (process.stdout.isTTY) return pino(options, pretty({ translateTime: 'HH:MM:ss', ignore: 'pid,hostname' }));
  return pino(options, createBlocks(process.stdout));
}

/** pino's own isoTime, which costs a tenth of a line, made once a millisecond. */
function createTimestamp(): () => string {
  let madeAt = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== madeAt) {
      madeAt = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

const BLOCK_BYTES = 32 * 1024;
const LATE_AT_MOST_MS = 200;

/**
 * Lines written in blocks, at most 200 ms late: a write for each request costs as much as its validation.
 * Not pino's own destination, which at exit tries for ever to reach a reader that is gone.
 */
function createBlocks(output: NodeJS.WriteStream): { write: (line: string) => void } {
  // As bytes: a long text of many pieces takes longer to put together than its lines.
  let lines: Buffer[] = [];
  let blockBytes = 0;
  const flush = () => {
    if (blockBytes > 0) output.write(Buffer.concat(lines));
    lines = [];
    blockBytes = 0;
  };
  output.on('error', () => {});
  setInterval(flush, LATE_AT_MOST_MS).unref();
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

/** One line a request, once it has been answered or given up. */
export function logRequests(logger: Logger) {
  return (req: IncomingMessage, res: ServerResponse, requestId: string): void => {
    const startedAt = performance.now();
    const { method, url = '/' } = req;
    res.on('close', () => {
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

/** Without the query, and without a segment longer than an id: somebody may have put a key there. */
function pathOf(url: string): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (path.length <= ID_CHARACTERS) return path;
  const segments = path.split('/').map((segment) => (segment.length > ID_CHARACTERS ? '…' : segment));
  return segments.join('/').slice(0, 200);
}
