import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import { DomainError, ForbiddenError } from '../domain/errors.ts';
import { type Exchange, messageOf, messageOfException, type Rendered, type Send } from './answer.ts';
import { exceptionOf, HttpError } from './exceptions.ts';
import type { Acting, Methods, Plan, Received } from './plan.ts';
import { readBody, readPathParameter, readQuery, refuseUnacceptable } from './request-input.ts';
import { MAX_URL_BYTES, urlTooLong } from './request-target.ts';
import type { Routes } from './routes.ts';
import { Violations } from './violations.ts';

export type Service<By extends Acting = Caller> = {
  readonly routes: Routes<Methods<By>>;
  /** Throws while one more request could only wait in vain. */
  readonly refuseOverload: () => void;
  /** Throws what is wrong with the input, too. */
  readonly answer: (admitted: Admitted<By>) => Promise<Rendered>;
  /** The one place where answers leave, refusals included. */
  readonly send: Send;
  /** Told of every bug and outage, with the request's id. */
  readonly onFault: (error: unknown, requestId: string) => void;
};

/** A request whose caller may make it. */
export type Admitted<By extends Acting = Caller> = {
  readonly req: IncomingMessage;
  readonly matched: Matched<By>;
  readonly caller: By;
};

export type Matched<By extends Acting = Caller> = {
  readonly plan: Plan<By>;
  /** The methods of the path. */
  readonly allow: string;
  /** The path's parameters, not decoded. */
  readonly values: readonly string[];
  readonly query: string;
};

/** Match, authenticate, permit, validate, call, write: the order of checks that the contract promises. */
export async function serve<By extends Acting>(exchange: Exchange, service: Service<By>): Promise<void> {
  const { req, res, requestId } = exchange;
  try {
    const admitted = await admit(req, service);
    service.send(exchange, messageOf(req, await service.answer(admitted)));
  } catch (error) {
    const exception = exceptionOf(error);
    if (exception.isFault) service.onFault(error, requestId);
    if (!res.headersSent && !res.destroyed) service.send(exchange, messageOfException(exception));
  }
}

/** Throws where the address is wrong, or nobody may do this with the key. */
export async function admit<By extends Acting>(
  req: IncomingMessage,
  { routes, refuseOverload }: Pick<Service<By>, 'routes' | 'refuseOverload'>,
): Promise<Admitted<By>> {
  const matched = match(routes, req);
  const { permission, authenticate } = matched.plan;
  refuseOverload();
  const caller = await authenticate(req);
  if (permission !== undefined && !caller.permissions.includes(permission)) {
    throw new ForbiddenError(`This API key lacks the permission ${permission}.`, permission);
  }
  return { req, matched, caller };
}

/** The operation that is called; throws where the address or the method is none of the contract's. */
export function match<By extends Acting>(routes: Routes<Methods<By>>, req: IncomingMessage): Matched<By> {
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
  return { plan, allow: route.target.allow, values: route.values, query: mark < 0 ? '' : url.slice(mark + 1) };
}

export function refuseWithoutHost(req: IncomingMessage): void {
  if (req.headers.host === undefined && req.httpVersion === '1.1') {
    throw new HttpError('bad_request', 'The Host header is missing (RFC 9112 section 3.2).');
  }
}

/** What was sent; throws where it cannot be read, or is not what the contract allows. */
export async function readInput<By extends Acting>({
  req,
  matched: { plan, values, query: queryText },
  caller,
}: Admitted<By>): Promise<Received<By>> {
  refuseWithoutHost(req);
  const path = Object.fromEntries(plan.pathNames.map((name, i) => [name, readPathParameter(values[i] ?? '')]));
  const query = readQuery(queryText, plan.queryTypes);
  refuseUnacceptable(req);
  const body = plan.hasBody ? await readBody(req) : undefined;
  const input = { path, query: query.values, header: req.headers, ...(body !== undefined && { requestBody: body }) };
  validate(plan, input, query.repeated);
  return { path, query: query.values, headers: req.headers, body, caller };
}

function validate<By extends Acting>(
  { validators, vocabulary }: Plan<By>,
  input: object,
  repeated: readonly string[],
): void {
  const violations = new Violations();
  for (const name of repeated) violations.add(name, 'is sent more than once. Send it only once.');
  for (const check of validators) if (!check(input)) violations.addAll(check.errors ?? [], vocabulary);
  violations.throwIfAny();
}
