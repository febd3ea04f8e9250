import express, { type ErrorRequestHandler, type Request, type Response } from 'express';
import { HttpError } from '../../src/api/exceptions.ts';
import { isObject, type Json } from '../../src/contract/document.ts';
import { invalidField } from '../../src/domain/errors.ts';
import { pageSecurityHeaders } from '../../src/security-headers.ts';
import type { Control } from './control.ts';
import { createControlPage, type PageOptions } from './control-page.ts';
import type { Overrides } from './overrides.ts';
import { jsonOf } from './request-check.ts';
import type { RequestLog } from './request-log.ts';

type ControlRoutesDeps = {
  readonly control: Control;
  readonly overrides: Overrides;
  readonly log: RequestLog;
} & PageOptions;

const PAGE = '/__mock';
const BODY_BYTES = '1mb';
const DATA_BYTES = '16mb';
const FORM = 'application/x-www-form-urlencoded';
const JSON_AS_FORM = `The body is JSON, but its Content-Type is ${FORM}. Send Content-Type: application/json.`;

/**
 * Routes the requests that control the mock, such as those of a test or of the control page. Their paths are not in the contract.
 */
export function controlRoutes(deps: ControlRoutesDeps): express.Router {
  const { control, overrides, log } = deps;
  const renderPage = createControlPage(deps);
  const router = express.Router({ caseSensitive: true, strict: true });
  const body = express.text({ type: () => true, limit: BODY_BYTES });

  router.get('/', (_req, res) => res.redirect(303, PAGE));
  router.get(PAGE, (_req, res) => {
    setPageHeaders(res);
    res.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-store' });
    res.type('html').send(renderPage({ overrides: overrides.all, requests: log.all }));
  });
  router.get(`${PAGE}/overrides`, (_req, res) => respond(res, 200, { overrides: overrides.all }));
  router.post(`${PAGE}/overrides`, body, (req, res) => {
    const sent = bodyOf(req);
    const added = control.force(req.is(FORM) ? ofForm(sent) : sent);
    finish(req, res, { status: 201, body: 'sequence' in sent ? { overrides: added } : added[0] });
  });
  router.delete(`${PAGE}/overrides`, (_req, res) => respond(res, 200, { cleared: overrides.clear() }));
  router.delete(`${PAGE}/overrides/:id`, (req, res) => {
    respond(res, 200, { cleared: overrides.clear(Number(req.params.id)) });
  });
  // HTML forms cannot send DELETE.
  router.post(`${PAGE}/clear`, body, (req, res) => {
    const { id } = bodyOf(req);
    finish(req, res, { status: 200, body: { cleared: overrides.clear(id === undefined ? undefined : Number(id)) } });
  });
  router.post(`${PAGE}/keys`, body, (req, res) => respond(res, 201, control.createKey(bodyOf(req))));
  router.get(`${PAGE}/requests`, (_req, res) => respond(res, 200, { requests: log.all }));
  router.delete(`${PAGE}/requests`, (_req, res) => respond(res, 200, { cleared: log.clear() }));
  router.post(`${PAGE}/reset`, express.text({ type: () => true, limit: DATA_BYTES }), (req, res) => {
    const sent = bodyOf(req);
    control.reset(sent);
    finish(req, res, { status: 200, body: { empty: String(sent['empty']) === 'true' } });
  });
  router.use(onUnreadable);
  return router;
}

const setPageHeaders = pageSecurityHeaders(undefined);

/**
 * Turns an error of express.text into a 422. Such an error means that the body is too large, or that its encoding or charset is
 * unknown.
 */
const onUnreadable: ErrorRequestHandler = (error, _req, _res, next) => {
  next(error instanceof Error && 'type' in error ? invalidField('body', `cannot be read: ${error.message}.`) : error);
};

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

function respond(res: Response, status: number, body: unknown): void {
  res.status(status).set('Cache-Control', 'no-store').json(body);
}

/** Redirects to the control page if the request comes from one of its forms; otherwise sends JSON. */
function finish(req: Request, res: Response, { status, body }: { status: number; body: unknown }): void {
  if (req.is(FORM)) res.redirect(303, PAGE);
  else respond(res, status, body);
}

/**
 * Returns the fields of the body: of a form if the Content-Type is that of a form, otherwise of a JSON object. Throws a 415 if
 * JSON is sent with the Content-Type of a form, and a 422 if the JSON is not an object.
 */
function bodyOf(req: Request): Json {
  const text = typeof req.body === 'string' ? req.body : '';
  if (req.is(FORM)) {
    // By default, curl -d sends its data with the Content-Type of a form.
    if (/^\s*[{[]/.test(text)) throw new HttpError('unsupported_media_type', JSON_AS_FORM);
    return Object.fromEntries(new URLSearchParams(text));
  }
  if (text.trim() === '') return {};
  const value = jsonOf(text);
  if (isObject(value)) return value;
  throw invalidField('body', 'must be a JSON object.');
}

/**
 * Returns the fields of the control page's form in the format of a JSON request. `response` is the selected option, such as
 * "getKey 401 missing_key"; `body` is JSON text.
 */
function ofForm({ response, body, allowInvalid, ...others }: Json): Json {
  const [operation, status, example] = String(response ?? '').split(' ');
  const text = String(body ?? '').trim();
  const value = jsonOf(text);
  if (text !== '' && value === undefined) throw invalidField('body', 'is not JSON.');
  return {
    ...others,
    operation,
    status,
    // A body replaces the example.
    ...(text === '' ? { example } : { body: value }),
    ...(allowInvalid !== undefined && { allowInvalid: true }),
  };
}
