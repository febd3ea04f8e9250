import { type IncomingMessage, type RequestListener, request as requestPlain, type ServerResponse } from 'node:http';
import { request as requestSecure } from 'node:https';
import getRawBody from 'raw-body';
import { originFormOf } from '../../src/api/unreadable-request.ts';
import { type CheckedResponse, createConformityCheck, type Finding } from '../../src/contract/conformity.ts';
import { type Document, readDocument } from '../../src/contract/contract.ts';
import { operationsOf } from '../../src/contract/document.ts';
import { bodyProblemOf } from '../../src/domain/request.ts';
import { formatCount } from '../../src/domain/text.ts';
import { listen } from '../../src/server.ts';
import { type Cors, createCors, warnOfBrowsers } from './cors.ts';
import { createRequestCheck, type Refusal } from './request-check.ts';
import { printable, requestLine } from './request-log.ts';

type ProxyOptions = {
  /** The server to which the requests are forwarded. */
  readonly target: URL;
  readonly port: number;
  readonly host: string;
  /** Called with one line for each request and one line for each disagreement. */
  readonly print: (line: string) => void;
};

export type ContractProxy = { readonly url: string; readonly tally: Tally; close(): Promise<void> };

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * Starts a proxy that forwards requests to a real server. The proxy checks every request and every response against the contract.
 */
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
    if (body === 'too large' || body === 'incomplete') return endUnforwarded(req, res, { ...deps, problem: body });
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

/** Reads the body of the request. If the request has no body, its stream has already ended (see src/server.ts). */
async function readBody(req: IncomingMessage): Promise<Buffer | 'too large' | 'incomplete'> {
  if (req.readableEnded) return Buffer.alloc(0);
  // If getRawBody gets the length, it refuses a body that is too large before reading the body.
  return getRawBody(req, { length: req.headers['content-length'] ?? null, limit: MAX_BODY_BYTES }).catch(
    (error: unknown) => bodyProblemOf(error) ?? 'incomplete',
  );
}

/**
 * Ends a request that is not forwarded. Such a request shows nothing about the server, so it does not count as a disagreement.
 */
function endUnforwarded(
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

/** Returns whether the header is a CORS header. The proxy replaces the server's CORS headers with its own. */
function isCorsHeader(name: string): boolean {
  return /^access-control-/i.test(name);
}

/** A request with its body, and the server's response. */
type Exchange = { readonly req: IncomingMessage; readonly body: Buffer; readonly response: CheckedResponse };

/** The statuses of refusals that never depend on the server's data. */
const INDEPENDENT_OF_DATA = [400, 405, 406, 413, 414, 415];
/**
 * The statuses of refusals that a server may send in response to any request: because of the key's state or limits, or because of
 * a problem of the server.
 */
const ALWAYS_ALLOWED = [401, 403, 429, 500, 503];

/**
 * Creates the check that a response conforms to the contract, and that the server refuses exactly those requests that the
 * contract forbids.
 */
async function createExchangeCheck(document: Document): Promise<(exchange: Exchange) => Promise<Finding>> {
  const checkResponse = createConformityCheck({ ...document });
  const checkRequest = await createRequestCheck(document);
  return async ({ req, body, response }) => {
    const { method = 'GET', url = '/' } = req;
    const finding = checkResponse({ method, url }, response);
    if (finding.operations.length === 0) return finding;
    const disagreement = refusalDisagreement(await checkRequest(req, body), response.status);
    if (disagreement === null) return finding;
    return { ...finding, disagreements: [...finding.disagreements, disagreement] };
  };
}

/**
 * Returns the disagreement between the contract and the server; `null` if they agree. `refusal` is why the contract forbids the
 * request, `null` if the contract allows the request. `status` is the status of the server's response.
 */
function refusalDisagreement(refusal: Refusal | null, status: number): string | null {
  if (refusal === null) {
    return INDEPENDENT_OF_DATA.includes(status)
      ? `the contract allows this request, but the server refuses it with ${status}.`
      : null;
  }
  if (status === refusal.status || ALWAYS_ALLOWED.includes(status)) return null;
  const forbids = `the contract forbids this request (${refusal.status}: ${refusal.message})`;
  return status < 400
    ? `${forbids}, but the server accepts it.`
    : `${forbids}, but the server responds with ${status}.`;
}

/**
 * A server's response: the headers and bytes that the proxy sends to the client, and the parsed response that the proxy checks.
 */
type ForwardedResponse = {
  readonly headers: readonly Header[];
  readonly bytes: Buffer;
  readonly checked: CheckedResponse;
};

type Header = readonly [name: string, value: string];

/**
 * Headers that are not forwarded: those of the connection (RFC 9110, section 7.6.1), those that the proxy itself sets, and
 * Accept-Encoding, because the proxy cannot check a compressed response.
 */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'accept-encoding',
]);
/**
 * The methods for which Node sends no body by default. For other methods, Node sends an empty chunked body unless Content-Length
 * is 0.
 */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);
const TIMEOUT_SECONDS = 60;

/** Sends the request to the server with unchanged headers, even repeated headers. Rejects if there is no response. */
function forward(req: IncomingMessage, body: Buffer, target: URL): Promise<ForwardedResponse> {
  const hasBody = req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined;
  const hasLength = hasBody || !WITHOUT_BODY.has(req.method ?? 'GET');
  const headers: Header[] = [
    ['Host', target.host],
    ['Connection', 'close'],
    ...(hasLength ? [['Content-Length', String(body.length)] as const] : []),
    ...headersOf(req).filter(([name]) => !NOT_FORWARDED.has(name.toLowerCase())),
  ];
  const options = {
    method: req.method,
    hostname: target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port,
    path: `${target.pathname.replace(/\/$/, '')}${req.url}`,
    headers: headers.flat(),
    agent: false,
    timeout: TIMEOUT_SECONDS * 1000,
  };
  return new Promise((resolve, reject) => {
    const request = target.protocol === 'https:' ? requestSecure : requestPlain;
    const sent = request(options, (response) => receive(response).then(resolve, reject));
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${TIMEOUT_SECONDS} seconds`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

async function receive(response: IncomingMessage): Promise<ForwardedResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const joined = Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return {
    headers: headersOf(response).filter(([name]) => isForwardedBack(name.toLowerCase())),
    bytes,
    checked: { status: response.statusCode ?? 0, headers: Object.fromEntries(joined), text: bytes.toString() },
  };
}

function isForwardedBack(name: string): boolean {
  return name === 'content-length' || !NOT_FORWARDED.has(name);
}

/** Returns the headers as pairs. In `rawHeaders`, names and values alternate. */
function headersOf({ rawHeaders }: IncomingMessage): Header[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
    rawHeaders[2 * i] ?? '',
    rawHeaders[2 * i + 1] ?? '',
  ]);
}

/** Counts requests and disagreements with the contract. Equal disagreements are counted together. */
class Tally {
  readonly #counts = new Map<string, number>();
  #requests = 0;
  #disagreements = 0;

  get requests(): number {
    return this.#requests;
  }

  get disagreements(): number {
    return this.#disagreements;
  }

  /** Adds a request. `subject` is the operation and the status. */
  add(subject: string, disagreements: readonly string[]): void {
    this.#requests += 1;
    this.#disagreements += disagreements.length;
    for (const disagreement of disagreements) {
      const line = `${subject}: ${disagreement}`;
      this.#counts.set(line, (this.#counts.get(line) ?? 0) + 1);
    }
  }

  /** Returns a line with the totals, followed by one line for each disagreement, the most frequent first. */
  summary(): string[] {
    const counts = [...this.#counts].sort(([, a], [, b]) => b - a);
    return [
      `${formatCount(this.#requests, 'request')}, ${formatCount(this.#disagreements, 'disagreement')} with the contract.`,
      ...counts.map(([line, times]) => `${String(times).padStart(6)}  ${line}`),
    ];
  }
}
