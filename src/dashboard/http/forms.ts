import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { isSameText } from '../../domain/same-text.ts';
import { Refusal } from './refusal.ts';
import type { RequestContext } from './request-context.ts';

/** 10 KiB: the largest form of ours has four short fields. */
const MAX_BODY_BYTES = 10 * 1024;
const TOKEN_FIELD = 'form_token';

/** What was sent, field by field; only fields that the form has. */
export type Form<Name extends string> = {
  /** The field's text; empty where it was not sent. */
  text(name: Name): string;
  all(name: Name): string[];
  has(name: Name): boolean;
};

/** Reads a form of exactly these fields; a field beside them is refused, so that nothing is ever assigned by its name. */
export async function readForm<Name extends string>(
  req: IncomingMessage,
  context: RequestContext,
  { fields, lists }: { fields: readonly Name[]; lists: readonly Name[] },
): Promise<Form<Name>> {
  const sent = new URLSearchParams(await readText(req));
  if (!isSameText(sent.get(TOKEN_FIELD) ?? '', context.formToken)) throw new Refusal('forged');
  for (const [name, value] of sent) {
    const isKnown = name === TOKEN_FIELD || [...fields, ...lists].some((known) => known === name);
    if (!isKnown) throw new Refusal('unexpected-field');
    if (sent.getAll(name).length > 1 && !lists.some((known) => known === name)) throw new Refusal('unexpected-field');
    // PostgreSQL's text cannot hold it.
    if (value.includes('\0')) throw new Refusal('unreadable');
  }
  return {
    text: (name) => sent.get(name) ?? '',
    all: (name) => sent.getAll(name),
    has: (name) => sent.has(name),
  };
}

/**
 * Only our own pages may change anything. Browsers say where a form stands: in Sec-Fetch-Site over HTTPS and on
 * localhost, otherwise in Origin.
 */
export function refuseForeign({ headers }: IncomingMessage, origin: string): void {
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined ? headers.origin === origin : site === 'same-origin';
  if (!isOurs) throw new Refusal('foreign');
}

async function readText(req: IncomingMessage): Promise<string> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = req.headers;
  const isForm = type.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
  if (!isForm || encoding.toLowerCase() !== 'identity') throw new Refusal('not-a-form');
  if (req.readableEnded) return ''; // It announced no body (server.ts); raw-body would call that unreadable.
  const length = req.headers['content-length'] ?? null;
  const bytes = await getRawBody(req, { limit: MAX_BODY_BYTES, length }).catch((error: unknown) => {
    const problem = error instanceof Error && 'type' in error ? error.type : undefined;
    if (problem === 'entity.too.large') throw new Refusal('too-large');
    if (problem === 'request.aborted' || problem === 'request.size.invalid') throw new Refusal('unreadable');
    throw error;
  });
  return bytes.toString('utf8');
}
