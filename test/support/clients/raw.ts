import { connect } from 'node:net';
import type { CheckedResponse } from '../contract/contract.ts';

/** Sends the text unchanged over a bare socket, and reads until the server closes. */
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
    // Decodes characters that are split between two chunks.
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

/** A request in HTTP/1.1 text; the connection closes after the response. */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: charter.test', 'Connection: close', ...headers, '', body].join('\r\n');
}

/** The last response received; an interim 100 may come before it. */
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
