import type { IncomingMessage, ServerResponse } from 'node:http';
import { JsonText } from '../domain/json.ts';
import { entityTagOf, satisfiesIfNoneMatch } from './conditional.ts';
import type { Exception } from './exceptions.ts';
import type { Answer, Plan } from './plan.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** An answer in the form in which it is written, for one request or for many. */
export type Rendered = {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined: the contract shows none. */
  readonly entityTag: string | undefined;
  /** JSON in UTF-8, a character a byte; undefined: the answer has none. */
  readonly text: string | undefined;
};

export function render(
  { hasEntityTag, isConditional }: Pick<Plan, 'hasEntityTag' | 'isConditional'>,
  { status, headers, body, ...given }: Answer,
): Rendered {
  const bytes = body === null ? undefined : JsonText.bytesOf(body);
  const entityTag = hasEntityTag && bytes !== undefined ? (given.entityTag ?? entityTagOf(bytes)) : undefined;
  const caching = isConditional ? 'private, no-cache' : 'no-store';
  return {
    status,
    headers: { ...headers, 'Cache-Control': caching, ETag: entityTag },
    entityTag,
    // Such a string Node sends in one piece with the headers, and without encoding it again.
    text: bytes?.toString('latin1'),
  };
}

/** The answer to one request: the page, or that whoever asks has it already. */
export function messageOf(
  req: IncomingMessage,
  { isConditional }: Pick<Plan, 'isConditional'>,
  rendered: Rendered,
): Message {
  const { headers, entityTag } = rendered;
  if (isConditional && entityTag !== undefined && !satisfiesIfNoneMatch(req.headers['if-none-match'], entityTag)) {
    // RFC 9110 section 15.4.5: of the headers, only those that a cache needs.
    const { 'Cache-Control': caching, ETag: tag } = headers;
    return { status: 304, headers: { 'Cache-Control': caching, ETag: tag }, text: undefined };
  }
  return rendered;
}

export function messageOfException({ status, headers, body }: Exception): Message {
  const text = Buffer.from(JSON.stringify(body)).toString('latin1');
  return { status, headers: { ...headers, 'Cache-Control': 'no-store' }, text };
}

/** `text` as in what is rendered. */
export type Message = { readonly status: number; readonly headers: Headers; readonly text: string | undefined };

/** A request, and where its answer goes. */
export type Exchange = { readonly req: IncomingMessage; readonly res: ServerResponse; readonly requestId: string };

export type Send = (exchange: Exchange, message: Message) => void;

export const CONTENT_TYPE = 'application/json; charset=utf-8';

export function send({ req, res, requestId }: Exchange, { status, headers, text }: Message): void {
  // Names and values in turn, which Node writes as they are; setHeader would keep a table of them first.
  const fields = ['X-Request-Id', requestId];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) fields.push(name, value);
  }
  if (text !== undefined) fields.push('Content-Type', CONTENT_TYPE, 'Content-Length', String(text.length));
  else if (status !== 204 && status !== 304) fields.push('Content-Length', '0');
  res.writeHead(status, fields).end(req.method === 'HEAD' ? undefined : text, 'latin1');
}
