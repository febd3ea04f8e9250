import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import getRawBody from 'raw-body';
import type { Finding } from '../../src/api/conformity.ts';
import { readDocument } from '../../src/api/contract.ts';
import { operationsOf } from '../../src/api/document.ts';
import { originFormOf } from '../../src/api/request-target.ts';
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
  return { url: listening.url, tally, close: () => listening.stop() };
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
    try {
      // The stream of a request without a body has ended (server.ts).
      const body = req.readableEnded ? Buffer.alloc(0) : await getRawBody(req, { limit: MAX_BODY_BYTES });
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
