import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { CheckedResponse } from '../../src/api/conformity.ts';

/** A real server's answer: as it is passed back, and as it is held against the contract. */
export type Passed = {
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly answered: CheckedResponse;
};

/** Of the connection alone (RFC 9110 section 7.6.1), or made anew; and nothing compressed, which could not be read. */
const NOT_PASSED = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['host', 'content-length', 'accept-encoding'],
]);
/** With any other method Node sends an empty body in chunks, unless a length of 0 says that there is none. */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);
const ANSWER_SECONDS = 60;

/** Sends the request on, its headers as they came, two of a name included; rejects where there is no answer. */
export function pass(req: IncomingMessage, body: Buffer, target: URL): Promise<Passed> {
  const hasBody = req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined;
  const hasLength = hasBody || !WITHOUT_BODY.has(req.method ?? 'GET');
  const options = {
    method: req.method,
    hostname: target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port,
    path: `${target.pathname.replace(/\/$/, '')}${req.url}`,
    headers: [
      ...['Host', target.host, 'Connection', 'close'],
      ...(hasLength ? ['Content-Length', String(body.length)] : []),
      ...pairs(req.rawHeaders).flatMap(([name, value]) => (NOT_PASSED.has(name.toLowerCase()) ? [] : [name, value])),
    ],
    agent: false,
    timeout: ANSWER_SECONDS * 1000,
  };
  return new Promise((resolve, reject) => {
    const request = target.protocol === 'https:' ? requestSecure : requestPlain;
    const sent = request(options, (answer) => receive(answer).then(resolve, reject));
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_SECONDS} seconds`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

async function receive(answer: IncomingMessage): Promise<Passed> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return {
    rawHeaders: pairs(answer.rawHeaders)
      .filter(([name]) => name.toLowerCase() === 'content-length' || !NOT_PASSED.has(name.toLowerCase()))
      .flat(),
    bytes,
    answered: { status: answer.statusCode ?? 0, headers: Object.fromEntries(headers), text: bytes.toString() },
  };
}

/** Names and values, which `rawHeaders` holds in turn. */
export function pairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
    rawHeaders[2 * i] ?? '',
    rawHeaders[2 * i + 1] ?? '',
  ]);
}
