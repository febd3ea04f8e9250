import type { IncomingMessage } from 'node:http';

/** No operation and no part of the server. */
export const NOBODY = 'none';
/** /livez and /readyz. */
export const HEALTH = 'health';

type KeyOfRequest = {
  readonly id: string;
  readonly integration: { readonly id: string; readonly name: string } | null;
};

/** What the parts of the server know about a request while it is answered. Express keeps it as `res.locals`. */
export class Exchange {
  readonly requestId: string;
  /** For metrics and traces: the operation of the contract, or the part of the server, that handles the request. */
  handledBy = NOBODY;
  /** The template of the operation's path, such as /api/parent_programs/{id}; `undefined` outside of the contract. */
  route: string | undefined = undefined;
  /** For the log: the key that the request was sent with, accepted or not; `undefined` if it is not known. */
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

/** A request that was not readable HTTP, or did not arrive in time. `code`: Node's, of the error. */
export type UnreadableRequest = {
  readonly requestId: string;
  readonly status: number;
  readonly code: string | undefined;
};

/** Of the URL and the headers of a request together. */
export const MAX_HEAD_BYTES = 16 * 1024;
/** What Node's parser accepts, so that a request above the limit can be told what is too large. */
export const MAX_PARSED_HEAD_BYTES = 2 * MAX_HEAD_BYTES;

/** ": " and the line break. */
const SEPARATORS = 4;

export type HeadSize = {
  readonly bytes: number;
  /** The name of the header that takes most of them, and how many. */
  readonly largest: { readonly name: string; readonly bytes: number };
};

/** Null if the URL and the headers are within the limit. Node's parser has one character for each byte. */
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
