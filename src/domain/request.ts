import type { IncomingMessage } from 'node:http';

/** The value of `handledBy` if no operation and no part of the server handles the request. */
export const NOBODY = 'none';
/** The value of `handledBy` for /livez and /readyz. */
export const HEALTH = 'health';

type KeyOfRequest = {
  readonly id: string;
  readonly integration: { readonly id: string; readonly name: string } | null;
};

/** What the parts of the server know about a request while it is answered. Express keeps it as `res.locals`. */
export class Exchange {
  readonly requestId: string;
  /** The operation of the contract, or the part of the server, that handles the request, as metrics and traces name it. */
  handledBy = NOBODY;
  /** The template of the operation's path, such as /api/parent_programs/{id}; `undefined` outside of the contract. */
  route: string | undefined = undefined;
  /** The key of the request, accepted or not, as the log names it; `undefined` if it is not known. */
  key: KeyOfRequest | undefined = undefined;
  /** `false` if the request was refused under load: such refusals are counted, and have no line in the log. */
  isLogged = true;

  constructor(requestId: string) {
    this.requestId = requestId;
  }

  /** Finds the exchange of a request by its response. */
  static of(res: object): Exchange {
    if ('locals' in res && res.locals instanceof Exchange) return res.locals;
    throw new TypeError('The request has no id yet.');
  }
}

/** A request that was not readable HTTP, or did not arrive in time. `code` is that of Node's error. */
export type UnreadableRequest = {
  readonly requestId: string;
  readonly status: number;
  readonly code: string | undefined;
};

/** The limit of the URL and the headers of a request together. */
export const MAX_HEAD_BYTES = 16 * 1024;
/** What Node's parser accepts, so that a request above the limit can be told what is too large. */
export const MAX_PARSED_HEAD_BYTES = 2 * MAX_HEAD_BYTES;

/** The bytes of ": " and of the line break. */
const SEPARATORS = 4;

export type HeadSize = {
  readonly bytes: number;
  /** The name of the header that takes most of them, and how many. */
  readonly largest: { readonly name: string; readonly bytes: number };
};

/** Returns `null` if the URL and the headers are within the limit. Node's parser has one character for each byte. */
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

/** Why raw-body could not read the body of a request; `undefined` if that is not the client's fault. */
export function bodyProblemOf(error: unknown): 'too large' | 'incomplete' | undefined {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      return 'too large';
    case 'request.aborted':
    case 'request.size.invalid':
    // The client had gone before the body was read.
    case 'stream.not.readable':
      return 'incomplete';
    default:
      return undefined;
  }
}
