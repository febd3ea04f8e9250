import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { parseJson } from '../../../src/domain/resources/json.ts';
import { type CheckedResponse, requireConformity } from '../contract/contract.ts';

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The parsed body; `undefined` if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and the contract has checked the shape.
  readonly body: any;
};

export type Sending = {
  key?: string | undefined;
  /** The headers. An array sends a header several times; `undefined` omits a default header. */
  headers?: Record<string, string | string[] | undefined>;
  /** The body. A string or bytes are sent unchanged, anything else as JSON. */
  body?: unknown;
};

/** Sends exactly the given request with node:http, and validates the response against the contract. */
export class Client {
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly #check: typeof requireConformity;

  constructor(baseUrl: string, key?: string, check = requireConformity) {
    this.baseUrl = baseUrl;
    this.key = key;
    this.#check = check;
  }

  get = (url: string, sending: Sending = {}) => this.send('GET', url, sending);
  post = (url: string, body: unknown, sending: Sending = {}) => this.send('POST', url, { ...sending, body });
  put = (url: string, body: unknown, sending: Sending = {}) => this.send('PUT', url, { ...sending, body });
  patch = (url: string, body: unknown, sending: Sending = {}) => this.send('PATCH', url, { ...sending, body });
  delete = (url: string, sending: Sending = {}) => this.send('DELETE', url, sending);

  async send(method: string, url: string, { key = this.key, headers = {}, body }: Sending = {}): Promise<Reply> {
    const payload =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const reply = await exchange(this.baseUrl, {
      method,
      url,
      payload,
      headers: {
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...(payload !== undefined && { 'Content-Type': 'application/json' }),
        ...(payload !== undefined &&
          headers['Transfer-Encoding'] === undefined && { 'Content-Length': String(Buffer.byteLength(payload)) }),
        ...headers,
      },
    });
    if (url.startsWith('/api')) this.#check({ method, url }, reply);
    return reply;
  }
}

type Exchange = {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  payload: string | Buffer | undefined;
};

function exchange(baseUrl: string, { method, url, headers, payload }: Exchange): Promise<Reply> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const given = Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    const sent = request({ hostname, port, method, path: url, headers: given, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const body =
          text !== '' && res.headers['content-type']?.startsWith('application/json') ? parseJson(text) : undefined;
        resolve({ status: res.statusCode ?? 0, headers: single(res.headers), text, body });
      });
    });
    sent.on('error', reject);
    sent.end(payload);
  });
}

function single(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
}

/** Sends the text unchanged over a socket, and returns what arrives until the server closes the connection. */
export function exchangeRaw(
  baseUrl: string,
  text: string | Buffer,
  { endAfterSending = false }: { endAfterSending?: boolean } = {},
): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(text);
      if (endAfterSending) socket.end();
    });
    // Decodes correctly even characters that are split between two chunks.
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

/** Returns a request as HTTP/1.1 text. The server closes the connection after the response. */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: charter.test', 'Connection: close', ...headers, '', body].join('\r\n');
}

/** Parses the last response in the text. An interim response with status 100 may come before it. */
export function parseRaw(received: string): CheckedResponse & { message: unknown } {
  const final = received.replace(/^HTTP\/1\.1 100 [\s\S]*?\r\n\r\n/, '');
  const end = final.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = final.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const text = final.slice(end + 4);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text,
    message: text === '' ? undefined : JSON.parse(text).message,
  };
}
