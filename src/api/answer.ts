import type { IncomingMessage, ServerResponse } from 'node:http';
import { entityTagOf, satisfiesIfNoneMatch } from './conditional.ts';
import type { Exception } from './exceptions.ts';
import { encodeJson } from './json-text.ts';
import type { Answer, Plan } from './plan.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** What is written, but for the X-Request-Id. */
export type Message = {
  readonly status: number;
  /** Headers, names and values in turn, as Node writes them; setHeader would keep a table of them first. */
  readonly fields: readonly string[];
  /** JSON in UTF-8, a character a byte; undefined: the answer has none. */
  readonly text: string | undefined;
};

/** An answer in the form in which it is written, for one request or for many. */
export type Rendered = Message & {
  /** Undefined: the contract shows none. */
  readonly entityTag: string | undefined;
  /** For who has it already; undefined: the contract shows no 304. */
  readonly notModified: Message | undefined;
};

export function render(
  { hasEntityTag, isConditional }: Pick<Plan, 'hasEntityTag' | 'isConditional'>,
  { status, headers, body, ...given }: Answer,
): Rendered {
  const bytes = body === null ? undefined : encodeJson(body);
  // Of the bytes, of a list too, not of its version: a 304 outlives changes of what it does not show, and a deployment's
  // other spelling does not pass for the same.
  const entityTag = hasEntityTag && bytes !== undefined ? (given.entityTag ?? entityTagOf(bytes)) : undefined;
  // RFC 9110 section 15.4.5: of the headers, a 304 has only those that a cache needs.
  const caching = { 'Cache-Control': isConditional ? 'private, no-cache' : 'no-store', ETag: entityTag };
  return {
    ...messageWith(status, { ...headers, ...caching }, bytes),
    entityTag,
    notModified: isConditional ? messageWith(304, caching, undefined) : undefined,
  };
}

/** The answer to one request: the page, or that whoever asks has it already. */
export function messageOf(req: IncomingMessage, rendered: Rendered): Message {
  const { entityTag, notModified } = rendered;
  if (notModified === undefined || entityTag === undefined) return rendered;
  return satisfiesIfNoneMatch(req.headers['if-none-match'], entityTag) ? rendered : notModified;
}

export function messageOfException({ status, headers, body }: Exception): Message {
  return messageWith(status, { ...headers, 'Cache-Control': 'no-store' }, encodeJson(body));
}

/** `bytes` are JSON in UTF-8; undefined: the answer has none. */
export function messageWith(status: number, headers: Headers, bytes: Buffer | undefined): Message {
  const fields = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  if (bytes !== undefined) fields.push('Content-Type', 'application/json; charset=utf-8');
  if (status !== 204 && status !== 304) fields.push('Content-Length', String(bytes?.length ?? 0));
  // Such a string Node sends in one piece with the headers, and without encoding it again.
  return { status, fields, text: bytes?.toString('latin1') };
}

/** A request, and where its answer goes. */
export type Exchange = { readonly req: IncomingMessage; readonly res: ServerResponse; readonly requestId: string };

export type Send = (exchange: Exchange, message: Message) => void;

export function send({ req, res, requestId }: Exchange, { status, fields, text }: Message): void {
  res.writeHead(status, ['X-Request-Id', requestId, ...fields]);
  res.end(req.method === 'HEAD' ? undefined : text, 'latin1');
}
