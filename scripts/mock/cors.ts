import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../../src/api/document.ts';

/** Adds the CORS headers to a response; returns true if the request was a preflight and has been responded to. */
export type Cors = (req: IncomingMessage, res: ServerResponse) => boolean;

/** Lets pages of any origin send any request, and read every header that the contract shows. */
export function createCors(operations: readonly Operation[]): Cors {
  const exposedHeaders = headersOf(operations);
  return (req, res) => {
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

/** Fetch standard, section 3.2.2. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

function headersOf(operations: readonly Operation[]): string {
  const responses = operations.flatMap((operation) => Object.values(operation.responses));
  return [...new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)))].sort().join(', ');
}
