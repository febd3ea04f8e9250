import { type CheckoutOptions, startMock } from '../../../scripts/mock/checkout.ts';
import type { Mock } from '../../../scripts/mock/server.ts';
import { Client } from '../clients/client.ts';
import { checkMockResponse } from '../contract/contract.ts';

export type TestMock = Mock & { readonly client: Client } & AsyncDisposable;

/** A mock for the tests of a file, closed after them. */
export async function useMock(options: CheckoutOptions = {}): Promise<TestMock> {
  const mock = await startTestMock(options);
  afterAll(() => mock.close());
  return mock;
}

/** A mock on any free port, and a client that checks every response against the contract. The caller closes it. */
export async function startTestMock(options: CheckoutOptions = {}): Promise<TestMock> {
  const mock = await startMock({ port: 0, ...options });
  const client = new Client(mock.url, mock.key, checkMockResponse);
  return { ...mock, client, [Symbol.asyncDispose]: mock.close };
}
