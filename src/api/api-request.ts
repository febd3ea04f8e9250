import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'openapi-backend';
import type { Caller } from '../domain/caller.ts';
import type { Exchange } from '../domain/exchange.ts';
import type { AcceptedKey } from '../service/authenticate.ts';
import type { UseRecorder } from '../traffic/last-used.ts';
import { HttpError } from './exceptions.ts';
import type { ContractOperation, QueryParameter } from './operation.ts';
import type { RenderedResponse } from './response.ts';

export type Match = {
  /** `undefined` if the path does not take the method. */
  readonly operation: ContractOperation | undefined;
  /** The methods of the path. */
  readonly allow: string;
  /** The path's parameters, still percent-encoded. */
  readonly values: readonly string[];
};

const NO_MATCH: Match = { operation: undefined, allow: '', values: [] };
const NO_COOKIES = {};
const NOTHING: readonly string[] = [];

/**
 * A request on its way through the steps of the API: as it was sent, as it was parsed, and what the steps have found out. A
 * response from the cache never needs the parsed form, so nothing is decoded before it is asked for.
 */
export class ApiRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly exchange: Exchange;
  readonly method: string;
  /** The request target in origin form, with its query. */
  readonly url: string;
  headers: IncomingHttpHeaders;
  /** The API takes no cookies. */
  readonly cookies = NO_COOKIES;
  /** The parsed JSON; `undefined` if there is none, or it has not been read yet. */
  requestBody: unknown;
  /** The paths of fields that the body has more than once. */
  repeatedFields: readonly string[] = NOTHING;
  /** The response that the cache holds for this caller and URL. */
  cached: RenderedResponse | undefined;
  /** True where the response comes from the cache and no header asks for anything that validation could refuse. */
  isKnownValid = false;
  /**
   * The number of a batch's changes beyond the first one, for which the request itself was counted. It is 0 for every other
   * request, and until the body has been read.
   */
  extraItems = 0;
  /** Records what becomes of the request. `undefined` if its key is not known, or the client has given up. */
  use: UseRecorder | undefined = undefined;
  /** Names and values of the rate limit headers in turn; empty if no limit applies, or the key is not accepted. */
  rateLimitFields: readonly string[] = NOTHING;
  #match = NO_MATCH;
  #key: AcceptedKey | undefined;
  #caller: Caller | undefined;
  #params: Readonly<Record<string, string>> | undefined;
  #query: Query | undefined;

  constructor(req: IncomingMessage, res: ServerResponse, exchange: Exchange) {
    this.req = req;
    this.res = res;
    this.exchange = exchange;
    this.method = req.method ?? 'GET';
    this.url = req.url ?? '/';
    this.headers = req.headers;
  }

  /** openapi-backend hands a request back to the router with its own, narrower type. */
  static of(request: Request): ApiRequest {
    if (request instanceof ApiRequest) return request;
    throw new TypeError('The contract serves an ApiRequest only.');
  }

  get path(): string {
    return this.url;
  }

  match(match: Match): void {
    this.#match = match;
    if (match.operation === undefined) return;
    this.exchange.handledBy = match.operation.operationId;
    this.exchange.route = match.operation.path;
  }

  get operation(): ContractOperation {
    if (this.#match.operation === undefined) throw new TypeError('The request has not been matched.');
    return this.#match.operation;
  }

  get allow(): string {
    return this.#match.allow;
  }

  get key(): AcceptedKey {
    if (this.#key === undefined) throw new TypeError('The request has not been authenticated.');
    return this.#key;
  }

  set key(key: AcceptedKey) {
    this.#key = key;
  }

  get caller(): Caller {
    if (this.#caller === undefined) throw new TypeError('The request has not been permitted.');
    return this.#caller;
  }

  set caller(caller: Caller) {
    this.#caller = caller;
  }

  /** By name, decoded. Throws a 400 for a malformed percent-encoding. */
  get params(): Readonly<Record<string, string>> {
    this.#params ??= Object.fromEntries(
      this.operation.pathNames.map((name, i) => [name, decodeComponent(this.#match.values[i] ?? '', 'path')]),
    );
    return this.#params;
  }

  /** By name, decoded; validation fills in the contract's defaults. Throws a 400 for a malformed percent-encoding. */
  get query(): Record<string, unknown> {
    return this.#readQuery().values;
  }

  /** The names of query parameters that are given more than once. */
  get repeated(): readonly string[] {
    return this.#readQuery().repeated;
  }

  #readQuery(): Query {
    const mark = this.url.indexOf('?');
    this.#query ??= readQuery(mark < 0 ? '' : this.url.slice(mark + 1), this.operation.queryParameters);
    return this.#query;
  }
}

const INTEGER = /^-?(0|[1-9]\d*)$/;

export type Query = {
  /** By name; of a parameter that is given more than once, an array of its values. */
  readonly values: Record<string, unknown>;
  readonly repeated: readonly string[];
};

const NOTHING_REPEATED: readonly string[] = [];

/** Reads names and values by the form rules ("+" is a space), and integers and booleans only if they are written as in JSON. */
export function readQuery(text: string, parameters: ReadonlyMap<string, QueryParameter>): Query {
  if (text === '') return { values: {}, repeated: NOTHING_REPEATED };
  const values = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeComponent(equals < 0 ? pair : pair.slice(0, equals), 'query');
    const value = equals < 0 ? '' : decodeComponent(pair.slice(equals + 1), 'query');
    const read = readValue(value, parameters.get(name));
    const earlier = values.get(name);
    if (earlier !== undefined) repeated.add(name);
    // No schema of the contract takes an array, so validation refuses the request.
    if (Array.isArray(earlier)) earlier.push(read);
    else values.set(name, earlier === undefined ? read : [earlier, read]);
  }
  // Assigning a property would lose a parameter named "__proto__".
  return { values: Object.fromEntries(values), repeated: [...repeated] };
}

/** A value that is not of the type stays text, which validation refuses. */
function readValue(text: string, parameter: QueryParameter | undefined): unknown {
  if (parameter === undefined) return text;
  const { type, normalForm } = parameter;
  if (type === 'integer' && INTEGER.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return normalForm === undefined ? text : text.normalize(normalForm);
}

/** Throws a 400 where the percent-encoding is not UTF-8. */
export function decodeComponent(text: string, where: 'path' | 'query'): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = where === 'query' ? text.replaceAll('+', ' ') : text;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new HttpError(
      'bad_request',
      `The ${where} contains percent-encoding that is not valid UTF-8: ${text.slice(0, 100)}`,
    );
  }
}
