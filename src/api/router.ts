import type { IncomingMessage } from 'node:http';
import type { Environment } from '../domain/api-key.ts';
import { DomainError } from '../domain/errors.ts';
import { PERMISSIONS } from '../domain/role.ts';
import { authenticate, findKeysIn } from '../service/authenticate.ts';
import type { KeyUses } from '../service/last-used.ts';
import type { Database } from '../store/database.ts';
import { type Exchange, type Rendered, render, type Send, send } from './answer.ts';
import { keyOf } from './authentication.ts';
import { type Document, loadContract, readDocument } from './contract.ts';
import { handlers } from './handlers/index.ts';
import type { HandlerDeps, Handlers, OperationId } from './operation.ts';
import { type Handle, planRoutes, type Received } from './plan.ts';
import { RenderedPages } from './rendered-pages.ts';
import { refuseUnacceptable } from './request-input.ts';
import { type BrokenAnswer, type ResponseCheck, sendChecked } from './response-check.ts';
import { type Admitted, readInput, refuseWithoutHost, type Service, serve } from './serve.ts';

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
  /** Null: what leaves is not checked, at no cost. */
  responseCheck: ResponseCheck | null;
  onBrokenAnswer: (broken: BrokenAnswer) => void;
};

/** The contract, served from the database. */
export async function createRouter(deps: RouterDeps) {
  const contract = await loadContract(deps.served?.definition);
  const authenticating = { ...deps, findKey: findKeysIn(deps.db) };
  const apiKey = (req: IncomingMessage) => authenticate(keyOf(req), authenticating);
  const handle = bindHandlers(deps.served?.handlers ?? handlers, deps);
  const service: Service = {
    routes: planRoutes({ contract, handle, permissions: PERMISSIONS, security: { apiKey } }),
    refuseOverload() {
      if (deps.db.isOverloaded()) throw new DomainError('unavailable', 'Too many requests wait for the database.');
    },
    answer: answerFrom(new RenderedPages(deps.pageMemoryBytes)),
    send: await sendFor(deps),
    onFault: deps.onFault,
  };
  return (exchange: Exchange): Promise<void> => serve(exchange, service);
}

async function sendFor({ responseCheck, served, onBrokenAnswer }: RouterDeps): Promise<Send> {
  if (responseCheck === null) return send;
  const document = served?.definition ?? (await readDocument());
  return sendChecked({ ...document }, { ...responseCheck, onBroken: onBrokenAnswer });
}

function bindHandlers(served: Handlers, deps: HandlerDeps): (operationId: string) => Handle | undefined {
  const isServed = (operationId: string): operationId is OperationId => Object.hasOwn(served, operationId);
  return (operationId) => {
    if (!isServed(operationId)) return undefined;
    // The contract's validators are what makes the input this operation's; from here on the types hold.
    const handler = served[operationId] as (input: Received, deps: HandlerDeps) => ReturnType<Handle>;
    return (input) => handler(input, deps);
  };
}

function answerFrom(pages: RenderedPages): Service['answer'] {
  return async (admitted: Admitted) => {
    const { req, caller, matched } = admitted;
    const { plan } = matched;
    const { url = '/' } = req;
    const kept = plan.isKept ? pages.find(caller, url) : undefined;
    if (kept !== undefined && isPlain(req, kept)) return kept;
    const input = await readInput(admitted);
    const work = async () => {
      const answer = await plan.handle(input);
      return { page: render(plan, answer), version: answer.version };
    };
    return kept ?? (plan.isKept ? pages.make(caller, url, work) : (await work()).page);
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
