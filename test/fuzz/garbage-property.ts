// Writes malformed bytes directly to the socket. The exact response is not known: it must be one that the document declares, or
// none, and the server must keep running.
import fc from 'fast-check';
import { createConformityCheck } from '../../src/contract/conformity.ts';
import { type Json, operationsOf } from '../../src/contract/document.ts';
import { exchangeRaw } from '../support/clients/client.ts';
import type { TestOrganization } from '../support/servers/server.ts';
import { type Draft, OWN_ID } from './draft.ts';
import { type Outgoing, quote } from './outgoing.ts';
import { validDraft } from './valid-requests.ts';
import { type World, withinSeconds } from './world.ts';

const MOST_SECONDS = 60;
const KEY = '{CHARTER_KEY}';
/**
 * Matches a request for `/`, a page that is not in the document. Damage can turn another path into `/`, for example into
 * `/?api/key`.
 */
const FOR_START_PAGE = /^\S+ \/(?:\?\S*)? HTTP\//m;

/** A change that replaces `gone` bytes at an offset with the text `come`. */
type Damage = { readonly at: number; readonly gone: number; readonly come: string };

const damage: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(),
  gone: fc.nat({ max: 3 }),
  come: fc.oneof(
    fc.constantFrom('', '\r\n', '\n', '\r', '\0', ' ', ':', '\xff', '\r\n\r\n', '/', '?', '%', '\x7f', '\t'),
    fc.constantFrom(
      'Content-Length: 7\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Expect: 100-continue\r\n',
      'Host: x\r\n',
    ),
    fc.string({ unit: fc.nat({ max: 255 }).map((byte) => String.fromCharCode(byte)), maxLength: 5 }),
    fc.constantFrom('x', 'a: b\r\n').map((text) => text.repeat(4000)),
  ),
});

export function garbageProperty(document: Json, world: World) {
  const operations = operationsOf(document);
  const check = createConformityCheck(document);
  const isShown = (response: RawResponse) =>
    operations.some(({ method, path }) => check({ method, url: path }, response).disagreements.length === 0);
  const drafts = fc.oneof(...operations.map(validDraft));
  const texts = fc
    .tuple(drafts, fc.array(damage, { minLength: 1, maxLength: 4 }))
    .map(([draft, damages]) => damages.reduce(withDamage, textOf(draft)));
  return fc.asyncProperty(texts, async (text) => {
    const ours = await world.newOrganization();
    const line = `printf ${printfOf(text)} | curl -s -m 5 "telnet\${CHARTER_URL#http}"`;
    for (const response of await responsesTo(text, world, ours)) {
      if (!isShown(response) && !FOR_START_PAGE.test(text))
        throw new Error(`the document shows no such response: ${response.status} ${response.text}\n${line}`);
      if (response.status >= 500) throw new Error(`it got ${response.status}.\n${line}`);
    }
    const { status } = await world.send(STILL_THERE, ours).catch((error: Error) => ({ status: error.message }));
    if (status !== 200) throw new Error(`afterwards the server responds with ${status}.\n${line}`);
  });
}

const STILL_THERE: Outgoing = {
  method: 'GET',
  url: '/api/key',
  headers: {},
  body: undefined,
  key: 'ours' as const,
  scheme: 'Bearer ',
};

function withDamage(text: string, { at, gone, come }: Damage): string {
  const from = at % (text.length + 1);
  return text.slice(0, from) + come + text.slice(from + gone);
}

/** Returns the request as HTTP/1.1 text, one character per byte. */
function textOf({ method, path, query, headers, body = '' }: Draft): string {
  const bytes = Buffer.from(body);
  const url = query.length === 0 ? path : `${path}?${query.join('&')}`;
  const lines = [
    `${method} ${url.replace(OWN_ID, crypto.randomUUID())} HTTP/1.1`,
    ...['Host: charter.test', `Authorization: Bearer ${KEY}`],
    ...(bytes.length === 0 ? [] : ['Content-Type: application/json', `Content-Length: ${bytes.length}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return [...lines, '', bytes.toString('latin1')].join('\r\n');
}

type RawResponse = { readonly status: number; readonly headers: Record<string, string>; readonly text: string };

async function responsesTo(text: string, { url, count }: World, { key }: TestOrganization): Promise<RawResponse[]> {
  count.requests += 1;
  const bytes = Buffer.from(text.replace(KEY, key), 'latin1');
  // A closed connection counts as no response.
  const exchange = exchangeRaw(url, bytes, { endAfterSending: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return '';
    throw error;
  });
  return responsesIn(await withinSeconds(MOST_SECONDS, exchange));
}

/** Splits the bytes into responses by their declared lengths. */
function responsesIn(received: string): RawResponse[] {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return [];
  const [first = '', ...lines] = received.slice(0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const bytes = Buffer.from(received.slice(end + 4));
  const length = Number(headers['content-length'] ?? 0);
  const rest = responsesIn(bytes.subarray(length).toString());
  return status === 100 ? rest : [{ status, headers, text: bytes.subarray(0, length).toString() }, ...rest];
}

function printfOf(text: string): string {
  const format = text.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  const bytes = format.replace(/[^\x20-\x7e]/g, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return quote(bytes).replaceAll(KEY, `'"$CHARTER_KEY"'`);
}
