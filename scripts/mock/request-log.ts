import type { IncomingMessage } from 'node:http';
import type { AnsweredRequest, Send } from '../../src/api/response.ts';
import { maskKeys } from '../../src/domain/keys/api-key.ts';
import { NOBODY } from '../../src/domain/request.ts';
import type { MockRequest, SentRequest } from './package/types.ts';

const MAX_REQUESTS = 1000;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** The maximum nesting of a logged body. JSON.parse accepts deeper nesting than JSON.stringify. */
const MAX_DEPTH = 100;

/** The latest requests, in the order of the mock's responses. */
export class RequestLog {
  readonly #now: () => Date;
  #texts: string[] = [];
  #characters = 0;
  readonly #problems = new WeakMap<AnsweredRequest['res'], readonly string[]>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Returns the requests, oldest first. */
  get all(): readonly MockRequest[] {
    return this.#texts.map((text) => JSON.parse(text));
  }

  /** Records what is wrong with a request, before the response is sent. */
  note({ res }: Pick<AnsweredRequest, 'res'>, problems: readonly string[]): void {
    this.#problems.set(res, problems);
  }

  /** Returns a `Send` that adds each request to the log before the response is sent. */
  sendWith(send: Send): Send {
    return (request, response) => {
      this.#add(request, response.status);
      send(request, response);
    };
  }

  /** Removes all requests. Returns the number of removed requests. */
  clear(): number {
    const { length } = this.#texts;
    this.#texts = [];
    this.#characters = 0;
    return length;
  }

  #add(request: AnsweredRequest, status: number): void {
    const { exchange, res } = request;
    const entry: Omit<MockRequest, 'operation'> & { readonly operation: string | null } = {
      at: this.#now().toISOString(),
      ...contentOf(request),
      operation: exchange.handledBy === NOBODY ? null : exchange.handledBy,
      status,
      problems: this.#problems.get(res) ?? [],
    };
    const text = maskKeys(JSON.stringify(entry));
    this.#texts.push(text);
    this.#characters += text.length;
    while (this.#texts.length > MAX_REQUESTS || (this.#characters > MAX_CHARACTERS && this.#texts.length > 1))
      this.#characters -= this.#texts.shift()?.length ?? 0;
  }
}

/** Returns the content of the request, with its API key. */
export function contentOf({
  method,
  url,
  req,
  requestBody,
}: Pick<AnsweredRequest, 'method' | 'url' | 'req' | 'requestBody'>): SentRequest {
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2);
  return {
    method,
    path,
    query: valuesOf(new URLSearchParams(query)),
    // `headersDistinct` contains the headers as they were sent. An override changes `request.headers`.
    headers: Object.fromEntries(
      Object.entries(req.headersDistinct).map(([name, values = []]) => [name, oneOrMore(values)]),
    ),
    body: isWithin(requestBody, MAX_DEPTH) ? (requestBody ?? null) : null,
  };
}

function valuesOf(parameters: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, oneOrMore(parameters.getAll(name))]));
}

function oneOrMore(values: string[]): string | string[] {
  const [first = ''] = values;
  return values.length > 1 ? values : first;
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isWithin(member, levels - 1));
}

const MAX_PRINTED = 300;

export function requestLine(
  { method = 'GET', url = '/' }: Pick<IncomingMessage, 'method' | 'url'>,
  status: number | string,
): string {
  return printable(`${method} ${url} -> ${status}`);
}

/**
 * Returns text from a client or a server in a form that is safe to print: without control characters and API keys, and at most
 * 300 characters long.
 */
export function printable(text: string): string {
  const safe = text.replace(/charter_(live|test)_\w+/g, 'charter_$1_…').replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return safe.length > MAX_PRINTED ? `${safe.slice(0, MAX_PRINTED)}…` : safe;
}
