import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ApiRequest } from '../../src/api/api-request.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import type { Document } from '../../src/contract/contract.ts';
import { operationsOf } from '../../src/contract/document.ts';
import { Exchange } from '../../src/domain/exchange.ts';
import { createMockApi } from './mock-api.ts';

export type Refusal = { readonly status: number; readonly message: string };

/** Returns `null` if the contract allows the request, unless a refusal depends on the server's data. */
export type RequestCheck = (req: IncomingMessage, body: Buffer) => Promise<Refusal | null>;

/** Finds what the contract forbids in a request, with the server's own code. Accepts keys of both environments. */
export async function createRequestCheck(document: Document): Promise<RequestCheck> {
  const api = await createMockApi(document, {
    operations: operationsOf({ ...document }),
    handlerOf: () => async () => ({ status: 204, headers: {}, body: null }),
    environmentOf: ({ headers }) => (headers.authorization?.includes('charter_test_') ? 'test' : 'live'),
    send() {},
  });
  return async (req, body) => {
    const copy = copyOf(req, body);
    try {
      await api.handle(new ApiRequest(copy, new ServerResponse(copy), new Exchange('')));
      return null;
    } catch (error) {
      const exception = exceptionOf(error);
      return { status: exception.status, message: exception.body.message };
    }
  };
}

/** The stream of the request has been read, so the copy has one of its own. */
function copyOf({ method, url, httpVersion, headers, rawHeaders }: IncomingMessage, body: Buffer): IncomingMessage {
  const copy = Object.assign(new IncomingMessage(new Socket()), { method, url, httpVersion, headers, rawHeaders });
  copy.complete = true;
  copy.push(body);
  copy.push(null);
  return copy;
}
