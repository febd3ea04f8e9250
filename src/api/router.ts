import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Environment } from '../domain/api-key.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError, ForbiddenError } from '../domain/errors.ts';
import { findKeysIn } from '../service/authenticate.ts';
import type { KeyUses } from '../service/last-used.ts';
import type { Database } from '../store/database.ts';
import { type Rendered, render, writeException, writeRendered } from './answer.ts';
import { authenticateRequest } from './authentication.ts';
import { type Document, loadContract } from './contract.ts';
import { exceptionOf, HttpError } from './exceptions.ts';
import { handlers } from './handlers/index.ts';
import type { Handlers } from './operation.ts';
import { type Methods, type Plan, planRoutes } from './plan.ts';
import { RenderedPages } from './rendered-pages.ts';
import { readBody, readPathParameter, readQuery, refuseUnacceptable } from './request-input.ts';
import { MAX_URL_BYTES, urlTooLong } from './request-target.ts';
import type { Routes } from './routes.ts';
import { Violations } from './violations.ts';

export type RouterDeps = {
  db: Database;
  environment: Environment;
  now: () => Date;
  keyUses: KeyUses;
  /** For answers that are kept in memory. */
  pageMemoryBytes: number;
  /** Another contract than ours. */
  served?: { definition: Document; handlers: Handlers } | undefined;
  /** Told of every bug and outage, with the request's id. */
  onFault: (error: unknown, requestId: string) => void;
};

/** Serves the contract: match, authenticate, permit, validate, call, write. */
export async function createRouter(deps: RouterDeps) {
  const contract = await loadContract(deps.served?.definition);
  const authenticating = { ...deps, findKey: findKeysIn(deps.db) };
  const apiKey = (req: IncomingMessage) => authenticateRequest(req, authenticating);
  const routes = planRoutes({ contract, handlers: deps.served?.handlers ?? handlers, security: { apiKey } });
  const pages = new RenderedPages(deps.pageMemoryBytes);

  async function answer({ req, caller, matched }: { req: IncomingMessage; caller: Caller; matched: Matched }) {
    const { plan } = matched;
    const { url = '/' } = req;
    const kept = plan.isKept ? pages.find(caller, url) : undefined;
    if (kept !== undefined && isPlain(req, kept)) return kept;
    const input = await readInput(req, matched);
    const work = async () => render(plan, await plan.handle({ ...input, caller }, deps));
    return kept ?? (plan.isKept ? pages.make(caller, url, work) : work());
  }

  return async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    res.setHeader('X-Request-Id', requestId);
    try {
      const matched = match(routes, req);
      const { plan } = matched;
      if (deps.db.isOverloaded()) throw new DomainError('unavailable', 'Too many requests wait for the database.');
      const caller = await plan.authenticate(req);
      if (plan.permission !== undefined && !caller.permissions.includes(plan.permission)) {
        throw new ForbiddenError(`This API key lacks the permission ${plan.permission}.`, plan.permission);
      }
      writeRendered(req, res, plan, await answer({ req, caller, matched }));
    } catch (error) {
      const exception = exceptionOf(error);
      if (exception.isFault) deps.onFault(error, requestId);
      writeException(req, res, exception);
    }
  };
}

/** The address was validated when the page was made, so what is left to judge are the headers. */
function isPlain(req: IncomingMessage, { entityTag }: Rendered): boolean {
  const { 'if-none-match': ifNoneMatch } = req.headers;
  if (ifNoneMatch !== undefined && ifNoneMatch !== entityTag) return false;
  refuseWithoutHost(req);
  refuseUnacceptable(req);
  return true;
}

type Matched = ReturnType<typeof match>;

function match(routes: Routes<Methods>, req: IncomingMessage) {
  const { url = '/', method = 'GET' } = req;
  if (url.length > MAX_URL_BYTES) throw urlTooLong();
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const route = routes.find(path);
  if (route === null)
    throw new DomainError('not_found', 'There is nothing at this path. See the paths in the API document.');
  const plan = route.target.byName.get(method);
  if (plan === undefined) {
    throw new HttpError('method_not_allowed', `This path does not take ${method}. It takes: ${route.target.allow}.`, {
      Allow: route.target.allow,
    });
  }
  return { plan, values: route.values, query: mark < 0 ? '' : url.slice(mark + 1) };
}

function refuseWithoutHost(req: IncomingMessage): void {
  if (req.headers.host === undefined && req.httpVersion === '1.1') {
    throw new HttpError('bad_request', 'The Host header is missing (RFC 9112 section 3.2).');
  }
}

async function readInput(req: IncomingMessage, { plan, values, query: queryText }: Matched) {
  refuseWithoutHost(req);
  const path = Object.fromEntries(plan.pathNames.map((name, i) => [name, readPathParameter(values[i] ?? '')]));
  const query = readQuery(queryText, plan.queryTypes);
  refuseUnacceptable(req);
  const body = plan.hasBody ? await readBody(req) : undefined;
  const input = { path, query: query.values, header: req.headers, ...(body !== undefined && { requestBody: body }) };
  validate(plan, input, query.repeated);
  return { path, query: query.values, headers: req.headers, body };
}

function validate({ validators, vocabulary }: Plan, input: object, repeated: readonly string[]): void {
  const violations = new Violations();
  for (const name of repeated) violations.add(name, 'is given more than once. Give it once.');
  for (const check of validators) if (!check(input)) violations.addAll(check.errors ?? [], vocabulary);
  violations.throwIfAny();
}
