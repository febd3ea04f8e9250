import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../../src/contract/document.ts';
import { APPLIED_HEADER, WARNING_HEADER } from './prefer.ts';
import { printable } from './request-log.ts';

/** Adds the CORS headers to a response. If the request is a preflight request, also sends the response and returns `true`. */
export type Cors = (req: IncomingMessage, res: ServerResponse) => boolean;

/**
 * Allows pages of every origin to send any request, and to read all response headers that the contract or the mock defines. Calls
 * `onBrowser` with the page's origin for each request from a page of another origin.
 */
export function createCors(operations: readonly Operation[], onBrowser: (origin: string) => void): Cors {
  const exposedHeaders = headersOf(operations);
  return (req, res) => {
    const { origin, host } = req.headers;
    if (origin !== undefined && origin !== `http://${host}`) onBrowser(origin);
    res.setHeader('Access-Control-Allow-Origin', '*');
    res.setHeader('Access-Control-Expose-Headers', exposedHeaders);
    if (!isPreflight(req)) return false;
    res.setHeader('Access-Control-Allow-Methods', String(req.headers['access-control-request-method']));
    const headers = req.headers['access-control-request-headers'];
    if (headers !== undefined) res.setHeader('Access-Control-Allow-Headers', headers);
    res.writeHead(204).end();
    return true;
  };
}

/** Returns whether the request is a preflight request (Fetch Standard, section 3.2.2). */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

function headersOf(operations: readonly Operation[]): string {
  const responses = operations.flatMap((operation) => Object.values(operation.responses));
  const declared = responses.flatMap(({ headers = {} }) => Object.keys(headers));
  return [...new Set([...declared, APPLIED_HEADER, WARNING_HEADER])].sort().join(', ');
}

/** Returns a function that prints a warning at its first call: web pages can call the mock, but not a server. */
export function warnOfBrowsers(print: (line: string) => void): (origin: string) => void {
  let isWarned = false;
  return (origin) => {
    if (isWarned) return;
    isWarned = true;
    print(
      `Warning: a web page (${printable(origin)}) calls the API. This works here only: a Charter server sends no CORS headers, because an API key must not be in a browser. See the page "Browsers and apps" of the documentation, /docs/browsers on a Charter server.`,
    );
  };
}
