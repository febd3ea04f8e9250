import { type IncomingMessage, ServerResponse } from 'node:http';
import { ApiRequest } from '../../src/api/api-request.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import type { Document } from '../../src/contract/contract.ts';
import { operationsOf } from '../../src/contract/document.ts';
import { Exchange } from '../../src/domain/exchange.ts';
import { createMockApi } from './mock-api.ts';
import { copyOf } from './read-ahead.ts';

export type Refusal = {
  readonly status: number;
  readonly message: string;
  /** A sentence for each problem. */
  readonly problems: readonly string[];
};

/** Returns `null` if the contract allows the request, unless a refusal depends on the server's data. */
export type RequestCheck = (req: IncomingMessage, body: Buffer) => Promise<Refusal | null>;

/** Finds what the contract forbids in a request, with the server's own code. Accepts keys of both environments. */
export async function createRequestCheck(document: Document): Promise<RequestCheck> {
  const api = await createMockApi(document, {
    operations: operationsOf({ ...document }),
    handlerOf: () => async () => ({ status: 204, headers: {}, body: null }),
    environmentOf: ({ headers }) => (headers.authorization?.includes('charter_test_') ? 'test' : 'live'),
    limit() {},
    send() {},
  });
  return async (req, body) => {
    const copy = copyOf(req, body);
    try {
      await api.handle(new ApiRequest(copy, new ServerResponse(copy), new Exchange('')));
      return null;
    } catch (error) {
      const { status, body } = exceptionOf(error);
      return { status, message: body.message, problems: problemsOf(error) };
    }
  };
}

/** What a refusal says is wrong with the request: each message of a 422 after its field. */
export function problemsOf(error: unknown): string[] {
  const { body } = exceptionOf(error);
  const errors = Object.entries(body.errors ?? {});
  return errors.length === 0
    ? [body.message]
    : errors.flatMap(([field, messages]) => messages.map((message) => `${field} ${message}`));
}
