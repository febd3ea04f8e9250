import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { bodyProblemOf } from '../../domain/body-problem.ts';
import { isSameText } from '../../domain/same-text.ts';
import type { RequestContext } from './request-context.ts';
import { RequestError } from './request-error.ts';

/** 10 KiB; the largest form has seven short fields. */
const MAX_FORM_BYTES = 10 * 1024;
const TOKEN_FIELD = 'form_token';

/** The fields of a submitted form. */
export type Form<Name extends string> = {
  /** Empty where the field was not sent. */
  text(name: Name): string;
  all(name: Name): string[];
  has(name: Name): boolean;
};

/** Reads a form with exactly these fields. Other fields are refused, so that no value is ever assigned by its name. */
export async function readForm<Name extends string>(
  req: IncomingMessage,
  context: RequestContext,
  { fields, lists }: { fields: readonly Name[]; lists: readonly Name[] },
): Promise<Form<Name>> {
  const sent = new URLSearchParams(await readText(req));
  if (!isSameText(sent.get(TOKEN_FIELD) ?? '', context.formToken)) throw new RequestError('forged');
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

async function readText(req: IncomingMessage): Promise<string> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = req.headers;
  const isForm = type.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
  if (!isForm || encoding.toLowerCase() !== 'identity') throw new RequestError('not-a-form');
  if (req.readableEnded) return ''; // The request announced no body (server.ts); raw-body would call that unreadable.
  const length = req.headers['content-length'] ?? null;
  const bytes = await getRawBody(req, { limit: MAX_FORM_BYTES, length }).catch((error: unknown) => {
    const problem = bodyProblemOf(error);
    if (problem === 'too large') throw new RequestError('too-large');
    if (problem === 'incomplete') throw new RequestError('unreadable');
    throw error;
  });
  return bytes.toString('utf8');
}
