import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { CheckedResponse } from '../../src/contract/conformity.ts';

/** A server's response: as it is passed back, and as it is checked against the contract. */
export type ForwardedResponse = {
  readonly headers: readonly Header[];
  readonly bytes: Buffer;
  readonly checked: CheckedResponse;
};

type Header = readonly [name: string, value: string];

/**
 * Headers of the connection (RFC 9110 section 7.6.1), headers that are made anew, and Accept-Encoding: a compressed
 * response could not be checked.
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
/** With any other method Node sends an empty body in chunks, unless a length of 0 says that there is none. */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);
const TIMEOUT_SECONDS = 60;

/** Sends the request to the server, with its headers unchanged, repeated ones included. Rejects without a response. */
export function forward(req: IncomingMessage, body: Buffer, target: URL): Promise<ForwardedResponse> {
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

/** `rawHeaders` alternates names and values. */
function headersOf({ rawHeaders }: IncomingMessage): Header[] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
    rawHeaders[2 * i] ?? '',
    rawHeaders[2 * i + 1] ?? '',
  ]);
}
