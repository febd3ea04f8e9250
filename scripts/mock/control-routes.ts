import express, { type ErrorRequestHandler, type Request, type Response } from 'express';
import { HttpError } from '../../src/api/exceptions.ts';
import { isObject, type Json, type Operation } from '../../src/contract/document.ts';
import { DomainError, invalidField } from '../../src/domain/errors.ts';
import { parseJson } from '../../src/domain/json.ts';
import { yamlOf } from '../bundle.ts';
import { readControlPage } from './control-page.ts';
import { ALL_OPERATIONS, MAX_OVERRIDES, type NewOverride, type Overrides } from './overrides.ts';
import { type Choice, type ChoiceWords, responseOf } from './prefer.ts';
import { MAX_DELAY_MS } from './preferences.ts';
import type { Store } from './store.ts';

export type ControlDeps = {
  readonly document: Json;
  readonly operations: readonly Operation[];
  readonly overrides: Overrides;
  /** `undefined` if the mock keeps nothing. */
  readonly store: Store | undefined;
};

const PAGE = '/__mock';
const BODY_BYTES = '16kb';
const MAX_TIMES = 10_000;
const FORM = 'application/x-www-form-urlencoded';
const JSON_AS_FORM = `The body is JSON, but its Content-Type is ${FORM}. Send Content-Type: application/json.`;

/** The document, and what controls the mock from outside of the app that calls it. Not part of the contract. */
export async function controlRoutes({ document, operations, overrides, store }: ControlDeps): Promise<express.Router> {
  const renderPage = await readControlPage({ operations, isStateful: store !== undefined });
  const text = JSON.stringify(document);
  let yaml: Promise<string> | undefined;
  const router = express.Router({ caseSensitive: true, strict: true });
  const body = express.text({ type: () => true, limit: BODY_BYTES });

  router.get('/openapi.json', (_req, res) => {
    res.set({ 'Content-Type': 'application/vnd.oai.openapi+json;version=3.1', 'Cache-Control': 'no-cache' }).send(text);
  });
  router.get('/openapi.yaml', async (_req, res) => {
    yaml ??= yamlOf(document);
    const sent = await yaml;
    res.set({ 'Content-Type': 'application/vnd.oai.openapi+yaml;version=3.1', 'Cache-Control': 'no-cache' }).send(sent);
  });
  router.get(PAGE, (_req, res) => {
    res.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    res.type('html').send(renderPage(overrides.all));
  });
  router.get(`${PAGE}/overrides`, (_req, res) => respond(res, 200, { overrides: overrides.all }));
  router.post(`${PAGE}/overrides`, body, (req, res) => {
    if (overrides.all.length >= MAX_OVERRIDES) {
      throw new DomainError('conflict', `There are ${MAX_OVERRIDES} overrides already. Clear them first.`);
    }
    const added = overrides.add(readOverride(bodyOf(req), operations));
    finish(req, res, { status: 201, body: added });
  });
  router.delete(`${PAGE}/overrides`, (_req, res) => respond(res, 200, { cleared: overrides.clear() }));
  router.delete(`${PAGE}/overrides/:id`, (req, res) => {
    respond(res, 200, { cleared: overrides.clear(Number(req.params.id)) });
  });
  // Forms cannot send DELETE.
  router.post(`${PAGE}/clear`, body, (req, res) => {
    const { id } = bodyOf(req);
    finish(req, res, { status: 200, body: { cleared: overrides.clear(id === undefined ? undefined : Number(id)) } });
  });
  router.post(`${PAGE}/reset`, body, (req, res) => {
    if (store === undefined) throw new DomainError('conflict', 'The mock keeps nothing. Start it with --stateful.');
    const isEmpty = String(bodyOf(req)['empty']) === 'true';
    store.reset({ isEmpty });
    finish(req, res, { status: 200, body: { empty: isEmpty } });
  });
  router.use(refuseUnreadable);
  return router;
}

/** A body that express.text refuses: too large, or in an unknown encoding or charset. */
const refuseUnreadable: ErrorRequestHandler = (error, _req, _res, next) => {
  next(error instanceof Error && 'type' in error ? invalidField('body', `cannot be read: ${error.message}.`) : error);
};

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

function respond(res: Response, status: number, body: unknown): void {
  res.status(status).set('Cache-Control', 'no-store').json(body);
}

/** The page's forms lead back to the page. */
function finish(req: Request, res: Response, { status, body }: { status: number; body: unknown }): void {
  if (req.is(FORM)) res.redirect(303, PAGE);
  else respond(res, status, body);
}

/**
 * JSON, or a form if the Content-Type says so. Throws a 415 for JSON that is sent as a form, and a 422 for anything else than
 * an object.
 */
function bodyOf(req: Request): Json {
  const text = typeof req.body === 'string' ? req.body : '';
  if (req.is(FORM)) {
    // curl sends -d as a form, and so its only field would be the JSON.
    if (/^\s*[{[]/.test(text)) throw new HttpError('unsupported_media_type', JSON_AS_FORM);
    return Object.fromEntries(new URLSearchParams(text));
  }
  if (text.trim() === '') return {};
  const value = jsonOf(text);
  if (isObject(value)) return value;
  throw invalidField('body', 'must be a JSON object.');
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const FIELDS = ['operation', 'status', 'example', 'times', 'delay_ms', 'response'];

/** Throws a 422 for a response that the operation does not have. `response` is the page's choice: "getKey 401 missing_key". */
function readOverride(body: Json, operations: readonly Operation[]): NewOverride {
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw invalidField(unknown.slice(0, 100), `is not known. Fields: ${FIELDS.slice(0, 5).join(', ')}.`);
  const [chosenOperation, chosenStatus, chosenExample] = String(body['response'] ?? '').split(' ');
  const operation = String(body['operation'] ?? (chosenOperation || ALL_OPERATIONS));
  const code = given(body['status'] ?? chosenStatus);
  const example = given(body['example'] ?? chosenExample);
  const delayMs = Number(body['delay_ms'] ?? 0);
  const isForever = body['times'] === null || body['times'] === '';
  const times = Number(body['times'] ?? 1);
  const fitting = operations.filter(({ operationId }) => operation === ALL_OPERATIONS || operation === operationId);
  if (fitting.length === 0) {
    const names = [ALL_OPERATIONS, ...operations.map(({ operationId }) => operationId)];
    throw invalidField('operation', `is not an operation. Choose one of: ${names.join(', ')}.`);
  }
  if (!Number.isInteger(delayMs) || delayMs < 0 || delayMs > MAX_DELAY_MS)
    throw invalidField('delay_ms', `must be an integer from 0 to ${MAX_DELAY_MS}.`);
  if (!isForever && !(Number.isInteger(times) && times >= 1 && times <= MAX_TIMES))
    throw invalidField(
      'times',
      `must be an integer from 1 to ${MAX_TIMES}, or null for every request until it is cleared.`,
    );
  if (code === undefined && example === undefined && delayMs === 0)
    throw invalidField('status', 'is missing. Send a status, an example or a delay_ms.');
  const status = statusOf(fitting, { code, example });
  return { operation, status, example: example ?? null, delay_ms: delayMs, left: isForever ? null : times };
}

function given(value: unknown): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : String(value);
}

const OF_FIELDS: ChoiceWords = { code: ['status', 'is'], example: ['example', 'is'] };

/** Returns `null` if none is named. Throws if none of the operations has the response. */
function statusOf(operations: readonly Operation[], chosen: Choice): number | null {
  let refusal: unknown;
  for (const operation of operations) {
    try {
      const response = responseOf(chosen, operation, OF_FIELDS);
      return chosen.code === undefined ? null : (response?.status ?? null);
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}
