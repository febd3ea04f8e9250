import { generateKeyPairSync, sign } from 'node:crypto';
import type { ScannerKeys } from '../../../src/domain/keys/secret-scanning.ts';
import { Browser, type Page } from './dashboard.ts';

type Sent = { readonly headers?: Readonly<Record<string, string>>; readonly localAddress?: string };

/** Sends a report as a program does, without cookie and origin. A string is sent unchanged, anything else as JSON. */
export async function reportAsProgram(
  url: string,
  body: unknown,
  { headers = {}, localAddress = '127.0.0.1' }: Sent = {},
): Promise<Page & { readonly json: unknown }> {
  const page = await new Browser(url, { localAddress }).send('POST', '/report-key', {
    headers: { Accept: '*/*', 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { ...page, json: page.headers['content-type'] === 'application/json' ? JSON.parse(page.text) : undefined };
}

/** Sends the form of the page, as a browser without a session does. */
export function reportOnPage(
  url: string,
  text: string,
  localAddress = '127.0.0.1',
  headers: Readonly<Record<string, string>> = {},
): Promise<Page> {
  return new Browser(url, { localAddress, headers }).submit('/report-key', { text });
}

type Scanner = {
  /** The public key, in the format of SECRET_SCANNING_KEYS. */
  readonly variable: string;
  readonly keys: ScannerKeys;
  readonly identifier: string;
  /** Returns the headers of a message with this body. */
  sign(body: string): Record<string, string>;
};

/** Creates a scanner that signs its messages as GitHub's secret scanning does. */
export function createScanner(identifier = 'f9525bf080f75b3506ca1ead061add62'): Scanner {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const encoded = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  return {
    variable: `${identifier}:${encoded}`,
    keys: new Map([[identifier, publicKey]]),
    identifier,
    sign: (body) => ({
      'Github-Public-Key-Identifier': identifier,
      'Github-Public-Key-Signature': sign('sha256', Buffer.from(body), privateKey).toString('base64'),
    }),
  };
}

/** Returns the scanner's message about these texts. */
export function messageAbout(tokens: readonly string[]): string {
  return JSON.stringify(
    tokens.map((token) => ({
      token,
      type: 'charter_api_key',
      url: 'https://github.example/acme/app/blob/1234/.env',
      source: 'content',
    })),
  );
}
