import type { HandlerInput, HandlerResult } from '../../src/api/operation.ts';
import { isObject, type Operation } from '../../src/contract/document.ts';
import type { ContractResponse } from './response-source.ts';

/** Rendering and sending add these to every response. */
const ADDED_HEADERS = new Set([
  'x-request-id',
  'cache-control',
  'etag',
  'content-type',
  'ratelimit-policy',
  'ratelimit',
]);

/** `path` is the operation's with its parameters filled in; a null `body`: the response has none. */
export function resultOf(path: string, status: number, { headers: given, body }: ContractResponse): HandlerResult {
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !ADDED_HEADERS.has(name.toLowerCase())));
  if ('Location' in headers && isObject(body)) headers['Location'] = `${path}/${body['id']}`;
  return { status, headers, body };
}

export function pathOf({ path }: Operation, input: HandlerInput): string {
  return path.replace(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(input.path[name] ?? ''));
}

/** The last parameter of the path; empty where there is none. */
export function idIn({ path }: HandlerInput): string {
  return canonicalId(Object.values(path).at(-1) ?? '');
}

/** A UUID may be sent in capitals; responses have it in lower case. */
export function canonicalId(value: string): string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? value.toLowerCase() : value;
}
