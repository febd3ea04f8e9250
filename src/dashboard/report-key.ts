import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Router } from 'express';
import { DomainError } from '../domain/errors.ts';
import { keysInText } from '../domain/keys/api-key.ts';
import { isSignedByScanner, type ScannerKeys } from '../domain/keys/secret-scanning.ts';
import type { Cell } from '../domain/organizations/cells.ts';
import { formatCount } from '../domain/text.ts';
import { html } from '../html/html.ts';
import { forwardReport } from '../service/cells/forward-report.ts';
import { MAX_REPORTED_KEYS, type Moving, reportKeys, takeProvenReport } from '../service/keys/report-keys.ts';
import { type Done, invalid } from '../service/outcome.ts';
import { lines, secret } from './forms/fields.ts';
import { type Form, fieldsOf, problemSummary } from './forms/form.ts';
import { REPORT_KEY_URL } from './http/addresses.ts';
import { type MaxSize, mediaTypeOf, readBody } from './http/body.ts';
import { formProblem, type Problem, problemOf } from './http/problem.ts';
import type { Dashboard, RequestContext } from './http/request-context.ts';
import { RequestError } from './http/request-error.ts';
import type { View } from './http/view.ts';
import { page } from './markup/layout.ts';
import { postForm } from './markup/parts.ts';
import { answerPrograms } from './routing/json-requests.ts';
import { form, publicRoutes } from './routing/page-routes.ts';

/** The maximum size of a report: 256 KiB, which is enough for long log lines or thousands of keys. */
export const MAX_REPORT: MaxSize = { bytes: 256 * 1024, error: 'report-too-large' };

const REPORT_FORM = {
  /** The text contains keys, so the form does not show it again. */
  text: secret(
    lines({
      label: 'Text with the key',
      hint: `Paste the key, or the text that contains it, such as lines of a log. Charter finds up to ${MAX_REPORTED_KEYS} keys in it, and does not store the text.`,
      attributes: html`rows="6" autocomplete="off" autocapitalize="none" spellcheck="false" translate="no" required`,
    }),
  ),
};

/** Routes reports of leaked keys. Anybody who has found a key can report it: people with a form, programs with JSON. */
export function reportKeyRoutes(dashboard: Dashboard): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const answerProgram = answerPrograms(dashboard, { answer, bodyOfError: (message) => ({ message }) });
  router.post(REPORT_KEY_URL, (req, res, next) =>
    mediaTypeOf(req) === 'application/json' ? answerProgram(req, res, next) : next(),
  );
  const post = form(REPORT_FORM, submitReport, { size: MAX_REPORT, callsInTurn: true });
  router.use(publicRoutes(dashboard, [{ path: REPORT_KEY_URL, get: showReport, post }]));
  return router;
}

async function showReport(context: RequestContext): Promise<View> {
  return reportPage(context, null);
}

async function submitReport(context: RequestContext, { values }: Form<typeof REPORT_FORM>): Promise<View> {
  const { dashboard, auditSource, now, inTurn } = context;
  const found = keysInText(values.text);
  if (found.length === 0) {
    return reportPage(context, problemOf(invalid('text', NO_KEY)));
  }
  const keys = found.slice(0, MAX_REPORTED_KEYS);
  const outcome = await inTurn(() => reportKeys(dashboard.db, { keys, auditSource, now }, dashboard));
  if (outcome.kind === 'rate-limited') return reportPage(context, problemOf(outcome));
  const unreached = await forwardKeys(context, keys);
  if (outcome.kind === 'moving')
    return reportPage(context, { ...formProblem(MOVING_NOTE), status: 503, retryAfterSeconds: MOVING_RETRY_SECONDS });
  return reportedPage(context, { reported: keys.length, left: found.length - keys.length, unreached });
}

const NO_KEY =
  'must contain a whole API key. It begins with charter_live_ or charter_test_, and ends with 46 letters and digits.';

function reportPage(context: RequestContext, problem: Problem | null): View {
  const main = html`<section class="card guest-card"><h1>Report a leaked API key</h1>
<p>Have you found an API key of Charter where it does not belong, such as in a repository, a log or a chat? Report it, and it is revoked at once. You need no account.</p>
${problemSummary(problem, REPORT_FORM)}
${postForm(
  { action: REPORT_KEY_URL, formToken: context.formToken },
  html`${fieldsOf(REPORT_FORM, { typed: {}, problem }).text}
<div class="actions"><button class="button primary wide">Report and revoke</button></div>`,
)}
<p class="aside">A revoked key never works again. Programs that use it stop working.</p></section>`;
  return page(context, { title: 'Report a leaked API key', main, problem });
}

type Reported = {
  readonly reported: number;
  readonly left: number;
  /** The cells that did not receive the report. */
  readonly unreached: readonly Cell[];
};

/**
 * Returns the response to a report. The response is the same whether the keys exist or not, so that it does not reveal which keys
 * exist.
 */
function reportedPage(context: RequestContext, { reported, left, unreached }: Reported): View {
  const main = html`<section class="card guest-card"><h1>Thank you</h1>
<p>You reported ${formatCount(reported, 'API key')}. If ${reported === 1 ? 'it was' : 'any of them was'} active, it is revoked now, and its owner can see why.</p>
${
  unreached.length > 0 &&
  html`<div class="notice danger" role="alert"><p><strong>The report did not reach every part of Charter.</strong> Report ${reported === 1 ? 'the key' : 'the keys'} there, too:</p>
<ul>${unreached.map(({ title, url }) => html`<li><a href="${url}${REPORT_KEY_URL}">${title}</a></li>`)}</ul></div>`
}
${left > 0 && html`<p><strong>Your text contains ${formatCount(left, 'more key')}.</strong> Only the first ${MAX_REPORTED_KEYS} were reported. Report the others separately.</p>`}
<p class="aside"><a href="${REPORT_KEY_URL}">Report another key</a></p></section>`;
  return page(context, { title: 'Thank you', main });
}

/** The message if one of the keys belongs to an organization that is moving. The other keys have been revoked. */
const MOVING_NOTE =
  'Charter is moving some of the data at the moment, so not every key may be revoked yet. Send the report again in a few minutes.';

const MOVING_RETRY_SECONDS = 5;

/**
 * Sends the keys to the other cells if the request came to the address that the cells share. Returns the cells that did not
 * receive them.
 */
async function forwardKeys(context: RequestContext, keys: readonly string[]): Promise<Cell[]> {
  return forward(context, { body: JSON.stringify({ keys }) });
}

/**
 * Sends the body of a report to the other cells. The bytes are unchanged, because the signature in `headers` covers them. Returns
 * the cells that did not receive the body.
 */
async function forward(
  { commonAddress, isForwarded, auditSource }: RequestContext,
  { body, headers = {} }: { readonly body: string | Buffer; readonly headers?: Readonly<Record<string, string>> },
): Promise<Cell[]> {
  return commonAddress === null || isForwarded
    ? []
    : forwardReport(commonAddress, { body, headers, ip: auditSource.ip });
}

// Answers a report from a program.

async function answer(context: RequestContext, req: IncomingMessage): Promise<View> {
  const { dashboard, auditSource, now, inTurn } = context;
  const body = await readBody(req, MAX_REPORT);
  const sent = readJson(body);
  if (Array.isArray(sent)) {
    const headers = requireSignature(dashboard.scannerKeys, body, req.headers);
    const keys = keysInText(sent.map((match) => textIn(match, 'token')).join('\n'));
    const outcome = await inTurn(() => takeProvenReport(dashboard.db, { keys, auditSource, now }, dashboard));
    const unreached = await forward(context, { body, headers });
    // A scanner expects a list of verdicts about its tokens. The list may be empty, and an empty list does not reveal which keys
    // exist.
    return incompleteView(outcome, unreached) ?? { kind: 'json', status: 200, body: [] };
  }
  const keys = readKeys(sent);
  const outcome = await inTurn(() => reportKeys(dashboard.db, { keys, auditSource, now }, dashboard));
  if (outcome.kind === 'rate-limited') {
    const { status, message, retryAfterSeconds } = problemOf(outcome);
    return { kind: 'json', status, body: { message }, headers: { 'Retry-After': String(retryAfterSeconds) } };
  }
  const unreached = await forwardKeys(context, keys);
  return incompleteView(outcome, unreached) ?? { kind: 'json', status: 200, body: { reported: keys.length } };
}

/**
 * Returns the response to an incomplete report. Returns `null` if the report is complete: every cell received it, and no reported
 * key belongs to an organization that is moving.
 */
function incompleteView({ kind }: Done | Moving, cells: readonly Cell[]): View | null {
  if (kind === 'moving') return unavailable(MOVING_NOTE, MOVING_RETRY_SECONDS);
  if (cells.length === 0) return null;
  const addresses = cells.map(({ url }) => `${url}/report-key`).join(', ');
  return unavailable(`The report did not reach every part of the service. Send it again, or to: ${addresses}`, 60);
}

function unavailable(message: string, retryAfterSeconds: number): View {
  return { kind: 'json', status: 503, body: { message }, headers: { 'Retry-After': String(retryAfterSeconds) } };
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new RequestError('not-json');
  }
}

/** Returns the headers that contain the signature. Throws unless the signature is valid. */
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

/** Returns the well-formed keys in `{"keys": [...]}`. Throws if there are no keys or too many. */
function readKeys(sent: unknown): string[] {
  const given: unknown = sent !== null && typeof sent === 'object' && 'keys' in sent ? sent.keys : undefined;
  if (!isTexts(given) || given.length === 0 || given.length > MAX_REPORTED_KEYS)
    throw new DomainError('invalid', `keys must be a list of 1 to ${MAX_REPORTED_KEYS} strings.`);
  const keys = keysInText(given.join('\n'));
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
