import type { IncomingMessage } from 'node:http';

/** The value of `handledBy` if no operation and no part of the server handles the request. */
export const NOBODY = 'none';
/** The value of `handledBy` for /livez and /readyz. */
export const HEALTH = 'health';

type KeyOfRequest = {
  readonly id: string;
  readonly organizationId: string;
  readonly integration: { readonly id: string; readonly name: string } | null;
};

/**
 * The parts of the time that a request to the API takes, in their order. "key": until the key has been looked up and accepted,
 * with the delay of a request without an accepted key. "limit": the wait for tokens of the rate limits. "body": the arrival of
 * the body. "turn": the wait for a turn of the organization. "database": the operation, mainly its statements. "rendering": the
 * rendering of the response, or the wait for another request that renders the same response. "sending": until the client has
 * received the response, as far as the server can tell.
 */
export const TIME_PARTS = ['key', 'limit', 'body', 'turn', 'database', 'rendering', 'sending'] as const;
export type TimePart = (typeof TIME_PARTS)[number];
export type TimesByPart = Readonly<Record<TimePart, number>>;

/** What the parts of the server know about a request while they handle it. Express stores it as `res.locals`. */
export class Exchange {
  readonly requestId: string;
  /** The operation of the contract, or the part of the server, that handles the request, as metrics and traces name it. */
  handledBy = NOBODY;
  /** The template of the operation's path, such as /api/parent_programs/{id}; `undefined` if no operation handles the request. */
  route: string | undefined = undefined;
  /** The key of the request, whether or not it was accepted, as the log names it; `undefined` if no known key was sent. */
  key: KeyOfRequest | undefined = undefined;
  /** When the request arrived, in milliseconds on the clock of `performance.now`. */
  readonly startedAt = performance.now();
  /** The number of changes of a batch; `undefined` for any other request, and until the body has been read. */
  changes: number | undefined = undefined;
  /** The current part of the request's time, and when that part began. */
  #part: TimePart = 'key';
  #partSince = this.startedAt;
  readonly #times: Record<TimePart, number> = {
    key: 0,
    limit: 0,
    body: 0,
    turn: 0,
    database: 0,
    rendering: 0,
    sending: 0,
  };
  /** Whether the request gets a line in the log. Refusals under load get no line; they are only counted. */
  isLogged = true;

  constructor(requestId: string) {
    this.requestId = requestId;
  }

  /** Ends the current part of the request's time, and begins another part. */
  beginPart(part: TimePart): void {
    const now = performance.now();
    this.#times[this.#part] += now - this.#partSince;
    this.#part = part;
    this.#partSince = now;
  }

  /** Returns the milliseconds of each part so far, including the current part. */
  get times(): TimesByPart {
    this.beginPart(this.#part);
    return this.#times;
  }

  /** Returns the exchange of a response. */
  static of(res: object): Exchange {
    if ('locals' in res && res.locals instanceof Exchange) return res.locals;
    throw new TypeError('The request has no id yet.');
  }
}

/** A request that was not valid HTTP, or did not arrive in time. `code` is the code of Node's error. */
export type UnreadableRequest = {
  readonly requestId: string;
  readonly status: number;
  readonly code: string | undefined;
};

/** The maximum size of the URL and the headers of a request together. */
export const MAX_HEAD_BYTES = 16 * 1024;
/** The size up to which Node parses a head, so that a client above our limit can be told what is too large. */
export const MAX_PARSED_HEAD_BYTES = 2 * MAX_HEAD_BYTES;

/** The number of bytes of the ": " and the line break of a header. */
const SEPARATORS = 4;

export type HeadSize = {
  readonly bytes: number;
  /** The name of the header that takes the most bytes, and how many. */
  readonly largest: { readonly name: string; readonly bytes: number };
};

/**
 * Returns the sizes if the URL and the headers exceed the limit; otherwise `null`. Node's parser has one character for each byte.
 */
export function checkHeadSize({ url = '', rawHeaders }: Pick<IncomingMessage, 'url' | 'rawHeaders'>): HeadSize | null {
  let bytes = url.length;
  for (const text of rawHeaders) bytes += text.length;
  bytes += (rawHeaders.length / 2) * SEPARATORS;
  if (bytes <= MAX_HEAD_BYTES) return null;
  const sizes = new Map<string, number>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    sizes.set(name, (sizes.get(name) ?? 0) + name.length + value.length + SEPARATORS);
  }
  const [[name, size] = ['', 0]] = [...sizes].toSorted(([, a], [, b]) => b - a);
  return { bytes, largest: { name, bytes: size } };
}

/** Returns why raw-body could not read the body of a request; `undefined` if that is not the client's fault. */
export function bodyProblemOf(error: unknown): 'too large' | 'incomplete' | undefined {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      return 'too large';
    case 'request.aborted':
    case 'request.size.invalid':
    // The client closed the connection before the body was read.
    case 'stream.not.readable':
      return 'incomplete';
    default:
      return undefined;
  }
}
