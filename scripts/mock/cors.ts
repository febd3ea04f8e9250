import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../../src/api/document.ts';

/** Pages of any origin may call, and read every header that the contract shows. They send no cookie: there is none. */
export function allowAnyOrigin(res: ServerResponse, exposed: string): void {
  res.setHeader('Access-Control-Allow-Origin', '*');
  res.setHeader('Access-Control-Expose-Headers', exposed);
}

/** A browser's question whether a page may send what it wants to send (Fetch standard, section 3.3). */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** Whatever is asked may be sent; the request itself then learns what the API says of it. */
export function answerPreflight({ headers }: IncomingMessage, res: ServerResponse): void {
  res.setHeader('Access-Control-Allow-Methods', String(headers['access-control-request-method']));
  const names = headers['access-control-request-headers'];
  if (names !== undefined) res.setHeader('Access-Control-Allow-Headers', names);
  res.writeHead(204).end();
}

export function headersShownBy(operations: readonly Operation[]): string {
  const shown = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)),
  );
  return [...new Set(shown)].sort().join(', ');
}
