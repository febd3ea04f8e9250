import type { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';

export type { Logger };

export type LogOptions = {
  /** The members that every log line has. */
  readonly base?: Readonly<Record<string, unknown>>;
  /** Where the lines are written. Default: standard output. */
  readonly output?: Writable & { readonly isTTY?: boolean };
};

/**
 * Creates a logger that writes JSON lines, or readable rows on a terminal. Do not log Authorization headers, keys or queries,
 * which may be private.
 */
export function createLogger(level: string, { base, output = process.stdout }: LogOptions = {}): Logger {
  const serializers = { err: (error: unknown) => ({ stack: describeError(error) }) };
  const options = { level, base: base ?? null, timestamp: createTimestamp(), serializers };
  return pino(options, output.isTTY === true ? createRows(output) : createBlocks(output));
}

/** Returns a stream that writes a readable row for each line of the log. The stack of an error follows in further rows. */
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
    .map(replaceControls)
    .join('\n');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Replaces control characters. The attack: a path contains escape sequences, which a terminal would execute. */
function replaceControls(text: string): string {
  return text.replace(/\p{Cc}/gu, '\u{fffd}');
}

/**
 * Returns a function like pino's isoTime that formats each millisecond only once, because formatting takes a tenth of the time of
 * a line.
 */
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
 * Returns a stream that writes lines in blocks, at most 200 ms late, because a write for each request would cost as much as
 * validating the request. Pino's own destination is not used, because at exit it retries forever if the reader is gone.
 */
function createBlocks(output: Writable): { write: (line: string) => void } {
  // The lines are kept as bytes, because concatenating many strings would take longer than encoding each line.
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

const EVERY_MS = 10_000;

/** A log for frequent events: one line for each could fill the disk, or take more time than the event itself. */
export type SampledLog<Event> = {
  readonly log: (event: Event) => void;
  /** Logs the counts so far immediately. Call it when no more events occur. */
  readonly stop: () => void;
};

type Sampling<Event> = {
  /** The number of events in each interval that get a line each. */
  readonly oneByOne: number;
  readonly logOne: (event: Event) => void;
  /** Returns the name under which an event is counted if it does not get its own line. */
  readonly kindOf: (event: Event) => string;
  /** Logs how many events were counted, by kind. */
  readonly logCounts: (counts: Readonly<Record<string, number>>) => void;
  /** The length of the interval. Default: 10,000. */
  readonly everyMs?: number | undefined;
};

/**
 * Creates a log in which the first events of each interval get a line each. The other events are counted, and logged as one line
 * at the end of the interval.
 */
export function createSampledLog<Event>({
  oneByOne,
  logOne,
  kindOf,
  logCounts,
  everyMs = EVERY_MS,
}: Sampling<Event>): SampledLog<Event> {
  let logged = 0;
  let counts: Record<string, number> = {};
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    if (Object.keys(counts).length > 0) logCounts(counts);
    logged = 0;
    counts = {};
    timer = undefined;
  };
  const log = (event: Event) => {
    if (timer === undefined) timer = setTimeout(report, everyMs).unref();
    if (logged < oneByOne) {
      logged += 1;
      logOne(event);
    } else {
      const kind = kindOf(event);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  };
  const stop = () => {
    clearTimeout(timer);
    report();
  };
  return { log, stop };
}

const API_KEY = /charter_(live|test)_\w+/g;
const URL_PASSWORD = /:\/\/[^\s/]*@/g;
const AUTHORIZATION = /\b(Bearer|Basic)\s+\S+/gi;
const MAX_CAUSES = 5;

/**
 * Returns the stacks, with names and messages, of an error and its causes. Other members of an error can be private, such as an
 * SQL statement with its parameters, or the row that violates a constraint.
 */
export function describeError(error: unknown, causes = MAX_CAUSES): string {
  if (!(error instanceof Error)) return redact(String(error));
  const text = redact(error.stack ?? error.message);
  return error.cause === undefined || causes === 0
    ? text
    : `${text}\ncaused by ${describeError(error.cause, causes - 1)}`;
}

function redact(text: string): string {
  return text.replace(AUTHORIZATION, '$1 …').replace(API_KEY, 'charter_$1_…').replace(URL_PASSWORD, '://…@');
}
