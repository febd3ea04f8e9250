import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import getRawBody from 'raw-body';
import { type ConformityCheck, createConformityCheck } from '../../src/api/conformity.ts';
import { readDocument } from '../../src/api/contract.ts';
import { originFormOf } from '../../src/api/request-target.ts';
import { listen } from '../../src/server.ts';
import { allowAnyOrigin, answerPreflight, headersShownBy, isPreflight } from './cors.ts';
import { compare, type Exchanged } from './exchange-check.ts';
import { pairs, pass } from './forward.ts';
import { createJudge, type Judge } from './judge.ts';
import { lineOf, plain } from './printable.ts';
import { jsonOf } from './service.ts';
import { Tally } from './tally.ts';

export type ProxyOptions = {
  /** The server to which requests go. */
  readonly target: URL;
  readonly port: number;
  readonly host: string;
  /** Told of every request and every disagreement, a line each. */
  readonly print: (line: string) => void;
};

export type ContractProxy = { readonly url: string; readonly tally: Tally; close(): Promise<void> };

const MOST_BODY_BYTES = 64 * 1024 * 1024;

/** Passes requests on to a real server, and holds each of them and its answer against the contract. */
export async function startProxy({ target, port, host, print }: ProxyOptions): Promise<ContractProxy> {
  const document = await readDocument();
  const judge = await createJudge(document);
  const tally = new Tally();
  const proxying = { target, judge, check: createConformityCheck(jsonOf(document)), tally, print };
  const listening = await listen(createListener(proxying), { host, port });
  return { url: listening.url, tally, close: () => listening.stop() };
}

type Proxying = {
  readonly target: URL;
  readonly judge: Judge;
  readonly check: ConformityCheck;
  readonly tally: Tally;
  readonly print: (line: string) => void;
};

function createListener(proxying: Proxying): RequestListener {
  const exposed = headersShownBy(proxying.judge.operations);
  return async (req, res) => {
    req.url = originFormOf(req.url ?? '/');
    allowAnyOrigin(res, exposed);
    if (isPreflight(req)) return answerPreflight(req, res);
    try {
      // Of a request that announces no body the stream has ended (server.ts).
      const body = req.readableEnded ? Buffer.alloc(0) : await getRawBody(req, { limit: MOST_BODY_BYTES });
      const { rawHeaders, bytes, answered } = await pass(req, body, proxying.target);
      await note({ req, body, answered }, proxying);
      for (const [name, value] of pairs(rawHeaders)) if (!isOfCors(name)) res.appendHeader(name, value);
      res.statusCode = answered.status;
      res.end(bytes);
    } catch (error) {
      fail(req, res, { ...proxying, reason: plain(error instanceof Error ? error.message : String(error)) });
    }
  };
}

async function note(exchanged: Exchanged, proxying: Proxying): Promise<void> {
  const { req, answered } = exchanged;
  const { operations, disagreements } = await compare(exchanged, proxying);
  const names = operations.map(({ operationId }) => operationId).join(', ');
  proxying.tally.add(`${names || plain(req.url ?? '')} ${answered.status}`, disagreements);
  const line = lineOf(req, answered.status);
  if (disagreements.length === 0) proxying.print(`  ${line}`);
  for (const disagreement of disagreements) proxying.print(`! ${line}: ${plain(disagreement)}`);
}

function fail(
  req: IncomingMessage,
  res: ServerResponse,
  { tally, print, reason }: Proxying & { reason: string },
): void {
  const disagreement = `the server gave no answer: ${reason}`;
  tally.add('no answer', [disagreement]);
  print(`! ${lineOf(req, 502)}: ${disagreement}`);
  if (res.headersSent) return void res.destroy();
  for (const name of res.getHeaderNames()) if (!isOfCors(name)) res.removeHeader(name);
  res.writeHead(502, { 'Content-Type': 'application/json; charset=utf-8' });
  res.end(JSON.stringify({ message: `The server behind this proxy gave no answer: ${reason}` }));
}

/** Ours go to the page in place of the server's. */
function isOfCors(name: string): boolean {
  return /^access-control-/i.test(name);
}
