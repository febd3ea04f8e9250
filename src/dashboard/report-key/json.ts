import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Router } from 'express';
import { DomainError } from '../../domain/errors.ts';
import { findKeysIn } from '../../domain/keys/api-key.ts';
import { isSignedByScanner, type ScannerKeys } from '../../domain/keys/secret-scanning.ts';
import type { Cell } from '../../domain/organizations/cells.ts';
import { MAX_REPORTED_KEYS, type Moving, reportKeys, takeProvenReport } from '../../service/keys/report-keys.ts';
import type { Done } from '../../service/outcome.ts';
import { REPORT_KEY_URL } from '../addresses.ts';
import { mediaTypeOf, readBody } from '../http/forms.ts';
import { answerPrograms } from '../http/json-requests.ts';
import { problemOf } from '../http/problem.ts';
import type { Dashboard, RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { forward, forwardKeys, MAX_REPORT, MOVING_NOTE, MOVING_RETRY_SECONDS } from './page.ts';

/** Reports of programs. */
export function jsonReports(dashboard: Dashboard): Router {
  const report = answerPrograms(dashboard, { answer, bodyOfError: (message) => ({ message }) });
  const router = Router({ caseSensitive: true, strict: true });
  router.all(REPORT_KEY_URL, (req, res, next) =>
    req.method === 'POST' && mediaTypeOf(req) === 'application/json' ? report(req, res, next) : next(),
  );
  return router;
}

async function answer(context: RequestContext, req: IncomingMessage): Promise<View> {
  const { dashboard, auditSource, now, inTurn } = context;
  const body = await readBody(req, MAX_REPORT);
  const sent = parse(body);
  if (Array.isArray(sent)) {
    const headers = requireSignature(dashboard.scannerKeys, body, req.headers);
    const keys = findKeysIn(sent.map((match) => textIn(match, 'token')).join('\n'));
    const outcome = await inTurn(() => takeProvenReport(dashboard.db, { keys, auditSource, now }, dashboard));
    const unreached = await forward(context, { body, headers });
    // The scanner accepts a label for each token, true or false positive. An empty list does not tell which keys exist.
    return incompleteView(outcome, unreached) ?? { kind: 'json', status: 200, body: [] };
  }
  const keys = keysOf(sent);
  const outcome = await inTurn(() => reportKeys(dashboard.db, { keys, auditSource, now }, dashboard));
  if (outcome.kind === 'rate-limited') {
    const { status, message, retryAfterSeconds } = problemOf(outcome);
    return { kind: 'json', status, body: { message }, headers: { 'Retry-After': String(retryAfterSeconds) } };
  }
  const unreached = await forwardKeys(context, keys);
  return incompleteView(outcome, unreached) ?? { kind: 'json', status: 200, body: { reported: keys.length } };
}

/** `null` if every cell got the report, and none of its organizations is moving. */
function incompleteView({ kind }: Done | Moving, cells: readonly Cell[]): View | null {
  if (kind === 'moving') return unavailable(MOVING_NOTE, MOVING_RETRY_SECONDS);
  if (cells.length === 0) return null;
  const addresses = cells.map(({ url }) => `${url}/report-key`).join(', ');
  return unavailable(`The report did not reach every part of the service. Send it again, or to: ${addresses}`, 60);
}

function unavailable(message: string, retryAfterSeconds: number): View {
  return { kind: 'json', status: 503, body: { message }, headers: { 'Retry-After': String(retryAfterSeconds) } };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new RequestError('not-json');
  }
}

/** Returns the headers of the signature. */
function requireSignature(keys: ScannerKeys, body: Buffer, headers: IncomingHttpHeaders): Record<string, string> {
  const { 'github-public-key-identifier': identifier, 'github-public-key-signature': signature } = headers;
  if (
    typeof identifier === 'string' &&
    typeof signature === 'string' &&
    isSignedByScanner(keys, body, { identifier, signature })
  )
    return { 'Github-Public-Key-Identifier': identifier, 'Github-Public-Key-Signature': signature };
  throw new DomainError(
    'forbidden',
    'A list must be signed by a secret scanner whose public key this server knows. Without a signature, send {"keys": [...]}.',
  );
}

/** The well-formed keys in `{"keys": [...]}`. */
function keysOf(sent: unknown): string[] {
  const given: unknown = sent !== null && typeof sent === 'object' && 'keys' in sent ? sent.keys : undefined;
  if (!isTexts(given) || given.length === 0 || given.length > MAX_REPORTED_KEYS)
    throw new DomainError('invalid', `keys must be a list of 1 to ${MAX_REPORTED_KEYS} strings.`);
  const keys = findKeysIn(given.join('\n'));
  if (keys.length === 0) throw new DomainError('invalid', 'keys must contain at least one whole API key.');
  if (keys.length > MAX_REPORTED_KEYS)
    throw new DomainError('invalid', `keys must contain at most ${MAX_REPORTED_KEYS} API keys.`);
  return keys;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function textIn(value: unknown, name: string): string {
  const text: unknown = value !== null && typeof value === 'object' ? Reflect.get(value, name) : undefined;
  return typeof text === 'string' ? text : '';
}
