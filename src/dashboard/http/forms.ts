import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { bodyProblemOf } from '../../domain/request.ts';
import { isSameText } from '../../domain/text.ts';
import type { RequestContext } from './request-context.ts';
import { RequestError } from './request-error.ts';

/** The largest body that is read, and the error for a larger one. */
export type MaxSize = { readonly bytes: number; readonly error: 'too-large' | 'report-too-large' };
/** 10 KiB; most forms have at most seven short fields. */
export const MAX_FORM: MaxSize = { bytes: 10 * 1024, error: 'too-large' };
export const TOKEN_FIELD = 'form_token';

/** The fields of a submitted form. */
export type Form<Name extends string> = {
  /** Empty where the field was not sent. */
  text(name: Name): string;
  all(name: Name): string[];
  has(name: Name): boolean;
};

export type FormOptions<Name> = {
  /** Fields that may be sent more than once. */
  readonly lists?: readonly Name[];
  /** 10 KiB by default. */
  readonly size?: MaxSize;
};

/** Reads a form with exactly these fields. */
export async function readForm<Name extends string>(
  req: IncomingMessage,
  context: RequestContext,
  { fields, lists = [], size = MAX_FORM }: { fields: readonly Name[] } & FormOptions<Name>,
): Promise<Form<Name>> {
  return formOf(await readFields(req, context, size), { fields, lists });
}

/** The fields as they were sent, of a form that our own page made for this session. */
export async function readFields(
  req: IncomingMessage,
  context: RequestContext,
  size: MaxSize,
): Promise<URLSearchParams> {
  if (mediaTypeOf(req) !== 'application/x-www-form-urlencoded') throw new RequestError('not-a-form');
  const sent = new URLSearchParams((await readBody(req, size)).toString('utf8'));
  if (!isSameText(sent.get(TOKEN_FIELD) ?? '', context.formToken)) throw new RequestError('forged');
  return sent;
}

/** The form with exactly these fields. Other fields are refused, so that no value is ever assigned by its name. */
export function formOf<Name extends string>(
  sent: URLSearchParams,
  { fields, lists = [] }: { fields: readonly Name[]; lists?: readonly Name[] },
): Form<Name> {
  for (const [name, value] of sent) {
    const isKnown = name === TOKEN_FIELD || [...fields, ...lists].some((known) => known === name);
    if (!isKnown) throw new RequestError('unexpected-field');
    const isList = lists.some((known) => known === name);
    if (!isList && sent.getAll(name).length > 1) throw new RequestError('unexpected-field');
    // PostgreSQL's text type cannot hold it.
    if (value.includes('\0')) throw new RequestError('unreadable');
  }
  return {
    text: (name) => sent.get(name) ?? '',
    all: (name) => sent.getAll(name),
    has: (name) => sent.has(name),
  };
}

/**
 * Refuses forms of other sites. Browsers name the page that sends the form: by HTTPS and on localhost in Sec-Fetch-Site,
 * otherwise in Origin.
 */
export function refuseForeign({ headers }: IncomingMessage, origin: string): void {
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined ? headers.origin === origin : site === 'same-origin';
  if (!isOurs) throw new RequestError('foreign');
}

/** The media type of the body, without parameters; empty if there is none. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export async function readBody(req: IncomingMessage, { bytes: limit, error: tooLarge }: MaxSize): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length = null } = req.headers;
  if (encoding.toLowerCase() !== 'identity') throw new RequestError('compressed');
  if (req.readableEnded) return Buffer.alloc(0); // The request announced no body (server.ts); raw-body would call that unreadable.
  return getRawBody(req, { limit, length }).catch((error: unknown) => {
    const problem = bodyProblemOf(error);
    if (problem === 'too large') throw new RequestError(tooLarge);
    if (problem === 'incomplete') throw new RequestError('unreadable');
    throw error;
  });
}

/** Midnight UTC of a day such as "2026-01-31"; `undefined` without a text, and `null` if the text is not a day. */
export function readDay(text: string): Date | null | undefined {
  if (text === '') return undefined;
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime());
  return isDay && day.toISOString().startsWith(text) ? day : null;
}
