import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import getRawBody from 'raw-body';
import { originFormOf } from '../../src/api/request-head.ts';
import type { Finding } from '../../src/contract/conformity.ts';
import { readDocument } from '../../src/contract/contract.ts';
import { operationsOf } from '../../src/contract/document.ts';
import { bodyProblemOf } from '../../src/domain/body-problem.ts';
import { listen } from '../../src/server.ts';
import { type Cors, createCors, warnOfBrowsers } from './cors.ts';
import { createExchangeCheck, type Exchange } from './exchange-check.ts';
import { forward } from './forward.ts';
import { printable, requestLine } from './printable.ts';
import { Tally } from './tally.ts';

export type ProxyOptions = {
  /** The server that requests are forwarded to. */
  readonly target: URL;
  readonly port: number;
  readonly host: string;
  /** Called with a line for every request and every disagreement. */
  readonly print: (line: string) => void;
};

export type ContractProxy = { readonly url: string; readonly tally: Tally; close(): Promise<void> };

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Forwards requests to a real server, and checks every request and every response against the contract. */
export async function startProxy({ target, port, host, print }: ProxyOptions): Promise<ContractProxy> {
  const document = await readDocument();
  const tally = new Tally();
  const allowEveryOrigin = createCors(operationsOf({ ...document }), warnOfBrowsers(print));
  const check = await createExchangeCheck(document);
  const listening = await listen(createListener({ target, allowEveryOrigin, check, tally, print }), { host, port });
  return { url: listening.url, tally, close: () => listening.abort() };
}

type ListenerDeps = Pick<ProxyOptions, 'target' | 'print'> & {
  readonly allowEveryOrigin: Cors;
  readonly check: (exchange: Exchange) => Promise<Finding>;
  readonly tally: Tally;
};

function createListener(deps: ListenerDeps): RequestListener {
  return async (req, res) => {
    req.url = originFormOf(req.url ?? '/');
    if (deps.allowEveryOrigin(req, res)) return;
    const body = await readBody(req);
    if (body === 'too large' || body === 'incomplete') return refuseBody(req, res, { ...deps, problem: body });
    try {
      const { headers, bytes, checked } = await forward(req, body, deps.target);
      await report({ req, body, response: checked }, deps);
      for (const [name, value] of headers) if (!isCorsHeader(name)) res.appendHeader(name, value);
      res.statusCode = checked.status;
      res.end(bytes);
    } catch (error) {
      fail(req, res, { ...deps, reason: printable(error instanceof Error ? error.message : String(error)) });
    }
  };
}

/** The stream of a request without a body has ended (server.ts). */
async function readBody(req: IncomingMessage): Promise<Buffer | 'too large' | 'incomplete'> {
  if (req.readableEnded) return Buffer.alloc(0);
  // With the length, a body that is too large is refused before it is read.
  return getRawBody(req, { length: req.headers['content-length'] ?? null, limit: MAX_BODY_BYTES }).catch(
    (error: unknown) => bodyProblemOf(error) ?? 'incomplete',
  );
}

/** The server does not see the request, so this is no disagreement. */
function refuseBody(
  req: IncomingMessage,
  res: ServerResponse,
  { print, problem }: Pick<ListenerDeps, 'print'> & { problem: 'too large' | 'incomplete' },
): void {
  if (problem === 'incomplete') {
    print(printable(`  ${req.method} ${req.url}: not forwarded, because the client disconnected`));
    return void res.destroy();
  }
  print(`  ${requestLine(req, 413)}: not forwarded, because its body is larger than 64 MiB`);
  res.statusCode = 413;
  res.setHeaders(
    new Map([
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Connection', 'close'],
    ]),
  );
  res.end(JSON.stringify({ message: 'This proxy forwards bodies of at most 64 MiB.' }));
}

async function report(exchange: Exchange, { check, tally, print }: ListenerDeps): Promise<void> {
  const { req, response } = exchange;
  const { operations, disagreements } = await check(exchange);
  const names = operations.map(({ operationId }) => operationId).join(', ');
  tally.add(`${names || printable(req.url ?? '')} ${response.status}`, disagreements);
  const line = requestLine(req, response.status);
  if (disagreements.length === 0) print(`  ${line}`);
  for (const disagreement of disagreements) print(`! ${line}: ${printable(disagreement)}`);
}

function fail(
  req: IncomingMessage,
  res: ServerResponse,
  { tally, print, reason }: Pick<ListenerDeps, 'tally' | 'print'> & { reason: string },
): void {
  const disagreement = `the server gave no response: ${reason}`;
  tally.add('no response', [disagreement]);
  print(`! ${requestLine(req, 502)}: ${disagreement}`);
  if (res.headersSent) return void res.destroy();
  for (const name of res.getHeaderNames()) if (!isCorsHeader(name)) res.removeHeader(name);
  res.writeHead(502, { 'Content-Type': 'application/json; charset=utf-8' });
  res.end(JSON.stringify({ message: `The server behind this proxy gave no response: ${reason}` }));
}

/** The proxy's own CORS headers replace the server's. */
function isCorsHeader(name: string): boolean {
  return /^access-control-/i.test(name);
}
