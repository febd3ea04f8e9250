import { type CheckoutOptions, startMock } from '../../../scripts/mock/checkout.ts';
import { type ContractProxy, startProxy } from '../../../scripts/mock/proxy.ts';
import type { Mock } from '../../../scripts/mock/server.ts';
import { Client } from '../clients/client.ts';
import { requireMockConformity } from '../contract/contract.ts';

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
  const client = new Client(mock.url, mock.key, requireMockConformity);
  return { ...mock, client, [Symbol.asyncDispose]: mock.close };
}

type TestProxy = ContractProxy & {
  /** The lines that it has printed. */
  readonly lines: string[];
} & AsyncDisposable;

/** A proxy on any free port that checks the server at `target` against the contract. */
export async function startTestProxy(target: string): Promise<TestProxy> {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const proxy = await startProxy({ target: new URL(target), port: 0, host: '127.0.0.1', print });
  return { ...proxy, lines, [Symbol.asyncDispose]: proxy.close };
}
