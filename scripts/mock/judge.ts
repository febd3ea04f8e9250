import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ApiRequest } from '../../src/api/api-request.ts';
import type { Document } from '../../src/api/contract.ts';
import type { Operation } from '../../src/api/document.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import { createService } from './service.ts';

export type Refusal = { readonly status: number; readonly message: string };

export type Judge = {
  readonly operations: readonly Operation[];
  /** Null: the contract allows the request, as far as that can be told without knowing what the server holds. */
  refusalOf(req: IncomingMessage, body: Buffer): Promise<Refusal | null>;
};

/** What the contract forbids of a request, found by the server's own code. Keys of either environment are accepted. */
export async function createJudge(document: Document): Promise<Judge> {
  const { api, operations } = await createService(document, {
    handlerOf: () => async () => ({ status: 204, headers: {}, body: null }),
    environmentOf: ({ headers }) => (headers.authorization?.includes('charter_test_') ? 'test' : 'live'),
    // Whether the request is refused is all that is asked.
    send() {},
  });
  return {
    operations,
    async refusalOf(req, body) {
      const copy = copyOf(req, body);
      try {
        await api.handle(new ApiRequest(copy, new ServerResponse(copy), ''));
        return null;
      } catch (error) {
        const { status, body: told } = exceptionOf(error);
        return { status, message: told.message };
      }
    },
  };
}

/** The request once more: its own body has been read already. */
function copyOf({ method, url, httpVersion, headers, rawHeaders }: IncomingMessage, body: Buffer): IncomingMessage {
  const copy = Object.assign(new IncomingMessage(new Socket()), { method, url, httpVersion, headers, rawHeaders });
  copy.complete = true;
  copy.push(body);
  copy.push(null);
  return copy;
}
