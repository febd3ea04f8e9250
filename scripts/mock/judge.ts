import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Document } from '../../src/api/contract.ts';
import type { Operation } from '../../src/api/document.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import { admit, readInput } from '../../src/api/serve.ts';
import { planService } from './service.ts';

export type Refusal = { readonly status: number; readonly message: string };

export type Judge = {
  readonly operations: readonly Operation[];
  /** Null: the contract allows the request, as far as that can be told without knowing what the server holds. */
  refusalOf(req: IncomingMessage, body: Buffer): Promise<Refusal | null>;
};

/** What of a request the contract forbids, by the server's own code. Keys of either environment are taken. */
export async function createJudge(document: Document): Promise<Judge> {
  const service = await planService(document, {
    handle:
      ({ operationId }) =>
      () =>
        Promise.reject(new Error(`Nobody handles ${operationId} here.`)),
    environmentOf: ({ headers }) => (headers.authorization?.includes('charter_test_') ? 'test' : 'live'),
  });
  return {
    operations: service.operations,
    async refusalOf(req, body) {
      try {
        await readInput(await admit(copyOf(req, body), service));
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
