import type { ServerResponse } from 'node:http';
import { clip } from '../../src/api/exceptions.ts';
import type { RawResponse, Send } from '../../src/api/response.ts';
import type { Operation } from '../../src/contract/document.ts';
import { DomainError, invalidField } from '../../src/domain/errors.ts';
import { examplesOf, statusesOf, successOf } from './declared-responses.ts';

/**
 * The response that a `Prefer` header (RFC 7240) names. If `example` is `undefined`, the mock chooses the example that fits best.
 */
export type Preference = { readonly status: number; readonly example: string | undefined };

/** The maximum number of messages about one field. The contract does not allow more in an error. */
const MAX_MESSAGES = 10;
/** The maximum number of characters of the client's text in a message. */
const MAX_QUOTED_CHARACTERS = 60;

/**
 * Returns the response that a header such as `Prefer: code=422, example=limit` names, or `undefined` if it names none. If the
 * header names only an example, the response is the success or, if the success does not have that example, the first status that
 * does. Throws a 422 if the operation does not have the response. The 422 lists the operation's statuses or examples.
 */
export function preferenceOf(header: string | string[] | undefined, operation: Operation): Preference | undefined {
  return responseOf(readPreferences(header), operation);
}

export type Choice = Pick<Preferences, 'code' | 'example'>;

/** The beginnings of refusals: the field that names the status or the example, and the words before the value of that field. */
export type ChoiceWords = Readonly<Record<keyof Choice, readonly [field: string, words: string]>> & {
  /** Whether one message lists all examples. Such a message may be longer than the contract allows. */
  readonly isOneMessage: boolean;
};

const OF_HEADER: ChoiceWords = {
  code: ['Prefer', 'asks for the status'],
  example: ['Prefer', 'asks for the example'],
  isOneMessage: false,
};

/**
 * Returns the response that `code` and `example` name, as in a `Prefer` header. Throws a 422 if the operation does not have that
 * response.
 */
export function responseOf(
  choice: Choice,
  operation: Operation,
  words: ChoiceWords = OF_HEADER,
): Preference | undefined {
  const { code, example } = choice;
  if (code !== undefined && !statusesOf(operation).includes(Number(code)))
    throw unknownStatusError(code, operation, words);
  if (example === undefined) return code === undefined ? undefined : { status: Number(code), example };
  const status = statusesToSearch(code, operation).find((each) =>
    examplesOf(operation, each).some(([name]) => name === example),
  );
  if (status === undefined) throw unknownExampleError({ code, example }, operation, words);
  return { status, example };
}

function statusesToSearch(code: string | undefined, operation: Operation): number[] {
  return code === undefined ? [successOf(operation), ...statusesOf(operation)] : [Number(code)];
}

function unknownStatusError(code: string, operation: Operation, { code: [field, words] }: ChoiceWords): DomainError {
  const problem = `${words} ${clip(code, MAX_QUOTED_CHARACTERS)}, which ${operation.operationId} does not have.`;
  return invalidField(field, `${problem} It has: ${statusesOf(operation).join(', ')}.`);
}

function unknownExampleError(
  { code, example }: { readonly code: string | undefined; readonly example: string },
  operation: Operation,
  { example: [field, words], isOneMessage }: ChoiceWords,
): DomainError {
  const statuses = code === undefined ? statusesOf(operation) : [Number(code)];
  const available = statuses.flatMap((status) => {
    const names = examplesOf(operation, status).map(([name]) => name);
    return names.length === 0 ? [] : [`with ${status}: ${names.join(', ')}`];
  });
  const where = code === undefined ? '' : ` with the status ${code}`;
  const quoted = clip(example, MAX_QUOTED_CHARACTERS);
  const message = `${words} ${quoted}, which ${operation.operationId} does not have${where}.`;
  if (available.length === 0) return invalidField(field, `${message} It has none.`);
  if (isOneMessage) return invalidField(field, `${message} It has ${available.join('; ')}.`);
  const lines = joinNeighbours(available, MAX_MESSAGES - 1).map((line) => `It has ${line}.`);
  return new DomainError('invalid', `${field} ${message} ${lines[0]}`, { [field]: [message, ...lines] });
}

/** Joins neighbouring texts, so that at most `maxLines` texts remain. */
function joinNeighbours(texts: readonly string[], maxLines: number): string[] {
  const size = Math.ceil(texts.length / maxLines);
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, i) =>
    texts.slice(i * size, (i + 1) * size).join('; '),
  );
}

/** The preferences in a Prefer header (RFC 7240), such as `Prefer: code=503, delay=2000`. */
type Preferences = {
  /** The status; `undefined` if it was not sent. `responseOf` checks `code` and `example` against the operation. */
  readonly code: string | undefined;
  readonly example: string | undefined;
  /** Whether the data is to be generated; `undefined` if the client has no preference. */
  readonly dynamic: boolean | undefined;
  readonly delayMs: number;
  /** The preferences that the mock applies, in the format of the Preference-Applied header, without `code` and `example`. */
  readonly applied: readonly string[];
  /**
   * One sentence for each preference that the mock does not apply. Of the client's text, a sentence contains only the name of the
   * preference.
   */
  readonly warnings: readonly string[];
};

export const MAX_DELAY_MS = 30_000;
const KNOWN_PREFERENCES = 'code, example, dynamic, delay and wait';

/** The maximum number of warnings. It is small, because the warnings are sent in a header. */
const MAX_WARNINGS = 10;

type Reading = {
  code?: string;
  example?: string;
  dynamic?: boolean;
  delayMs?: number | undefined;
  waitMs?: number;
};

export function readPreferences(header: string | string[] | undefined): Preferences {
  const { values, warnings } = split([header ?? []].flat().join(','));
  const reading: Reading = {};
  for (const [name, value] of values) {
    const problem = read(name, value, reading);
    if (problem !== undefined) warnings.push(problem);
  }
  const { code, example, dynamic, delayMs = 0, waitMs } = reading;
  const isInTime = waitMs !== undefined && delayMs <= waitMs;
  if (waitMs !== undefined && !isInTime) warnings.push('Prefer: wait is shorter than delay, so it is not met.');
  const applied = [
    ...(dynamic === undefined ? [] : [`dynamic=${dynamic}`]),
    ...(delayMs === 0 ? [] : [`delay=${delayMs}`]),
    ...(isInTime ? [`wait=${waitMs / 1000}`] : []),
  ];
  return { code, example, dynamic, delayMs, applied, warnings: [...new Set(warnings)].slice(0, MAX_WARNINGS) };
}

/**
 * Returns the preferences by name. Names are not case-sensitive, and the first of two equal preferences counts (RFC 7240, section
 * 2).
 */
function split(header: string): { values: Map<string, string>; warnings: string[] } {
  const values = new Map<string, string>();
  const warnings: string[] = [];
  for (const text of header.split(/[,;]/)) {
    if (text.trim() === '') continue;
    const [, name, value = ''] = /^\s*([\w-]{1,40})\s*(?:=\s*"?([^"]*?)"?\s*)?$/.exec(text) ?? [];
    if (name === undefined) warnings.push('Prefer has a preference that is not readable. Write name=value.');
    else if (values.has(name.toLowerCase())) warnings.push(`Prefer: only the first ${name} counts.`);
    else values.set(name.toLowerCase(), value);
  }
  return { values, warnings };
}

/** Reads one preference into `reading`. Returns a sentence if the preference cannot be applied. */
function read(name: string, value: string, reading: Reading): string | undefined {
  switch (name) {
    case 'code':
    case 'example':
      reading[name] = value;
      return undefined;
    case 'dynamic':
      if (!/^(true|false|)$/.test(value)) return 'Prefer: dynamic is true or false.';
      reading.dynamic = value !== 'false';
      return undefined;
    case 'delay':
      reading.delayMs = millisecondsOf(value);
      if (reading.delayMs !== undefined) return undefined;
      return `Prefer: delay is a number of milliseconds up to ${MAX_DELAY_MS}, or of seconds, such as 2s.`;
    case 'wait':
      // The number of seconds that the client is willing to wait (RFC 7240, section 4.3).
      if (!/^\d{1,6}$/.test(value)) return 'Prefer: wait is a number of seconds.';
      reading.waitMs = Number(value) * 1000;
      return undefined;
    default:
      return `Prefer: this mock does not know ${name}. It knows ${KNOWN_PREFERENCES}.`;
  }
}

function millisecondsOf(value: string): number | undefined {
  const [, digits, unit] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s)?$/.exec(value) ?? [];
  const milliseconds = Number(digits) * (unit === 's' ? 1000 : 1);
  return milliseconds <= MAX_DELAY_MS ? Math.round(milliseconds) : undefined;
}

/** The header that lists the applied preferences (RFC 7240, section 3). */
export const APPLIED_HEADER = 'Preference-Applied';
export const WARNING_HEADER = 'X-Mock-Warning';

/** The preferences of a request. `response` is the named response; `undefined` if the operation does not have that response. */
type Note = {
  readonly preferences: Preferences;
  readonly response: Preference | undefined;
  /** Headers that the mock was given for the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether the connection is closed without a response. */
  readonly isDisconnected?: boolean;
};

/** Stands for no response: the connection is closed instead. */
export const NO_RESPONSE: RawResponse = { status: 0, fields: [], text: undefined };

/** Returns a `Send` that closes the connection for `NO_RESPONSE`. */
export function sendOrDisconnect(send: Send): Send {
  return (exchange, response) => {
    if (response === NO_RESPONSE) exchange.res.destroy();
    else send(exchange, response);
  };
}

export type PreferenceNotes = {
  add(res: ServerResponse, note: Note): void;
  /** Returns a `Send` that adds headers to each response. The headers say which preferences were applied and which were not. */
  sendWith(send: Send): Send;
};

/** Creates the notes. Calls `onWarning` with each sentence about a preference that was not applied. */
export function createPreferenceNotes(onWarning: (warning: string) => void): PreferenceNotes {
  const notes = new WeakMap<ServerResponse, Note>();
  return {
    add: (res, note) => void notes.set(res, note),
    sendWith: (send) => (exchange, response) => {
      const note = notes.get(exchange.res);
      if (note?.isDisconnected) {
        send(exchange, NO_RESPONSE);
        return;
      }
      if (note !== undefined) {
        const { applied, warnings } = shownOf(note, response.status);
        if (applied.length > 0) exchange.res.setHeader(APPLIED_HEADER, applied.join(', '));
        if (warnings.length > 0) exchange.res.setHeader(WARNING_HEADER, warnings.join(' '));
        for (const warning of warnings) onWarning(warning);
      }
      const isChosen = note?.headers !== undefined && note.response?.status === response.status;
      send(exchange, isChosen ? withHeaders(response, note.headers) : response);
    },
  };
}

function withHeaders(response: RawResponse, headers: Readonly<Record<string, string>>): RawResponse {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  // In `fields`, names and values alternate.
  const others = response.fields.filter((_, i, all) => !names.has(String(all[i - (i % 2)]).toLowerCase()));
  return { ...response, fields: [...others, ...Object.entries(headers).flat()] };
}

type Shown = { readonly applied: readonly string[]; readonly warnings: readonly string[] };

function shownOf({ preferences, response }: Note, status: number): Shown {
  const { code, example, applied, warnings } = preferences;
  if (code === undefined && example === undefined) return { applied, warnings };
  // A 304 can replace a 200 that the client already has.
  if (response === undefined || (status !== response.status && !(response.status === 200 && status === 304)))
    return { applied, warnings: [...warnings, notSent(response)] };
  const chosen = [
    ...(code === undefined ? [] : [`code=${response.status}`]),
    ...(response.example === undefined ? [] : [`example=${response.example}`]),
  ];
  return { applied: [...chosen, ...applied], warnings };
}

function notSent(response: Preference | undefined): string {
  return response === undefined
    ? 'Prefer: the operation has no such response.'
    : 'Prefer: a success is sent only where the server would accept the request.';
}
