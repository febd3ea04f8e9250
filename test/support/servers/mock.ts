import { type CheckoutOptions, startMock } from '../../../scripts/mock/checkout.ts';
import { type ContractProxy, startProxy } from '../../../scripts/mock/proxy.ts';
import type { Mock } from '../../../scripts/mock/server.ts';
import { Client } from '../clients/client.ts';
import { requireMockConformity } from '../contract/contract.ts';

export type TestMock = Mock & { readonly client: Client } & AsyncDisposable;

/** Starts a mock for the tests of a file, and closes the mock after them. */
export async function useMock(options: CheckoutOptions = {}): Promise<TestMock> {
  const mock = await startTestMock(options);
  afterAll(() => mock.close());
  return mock;
}

/** Starts a mock on a free port. Its client checks every response against the contract. The caller closes the mock. */
export async function startTestMock(options: CheckoutOptions = {}): Promise<TestMock> {
  const mock = await startMock({ port: 0, ...options });
  const client = new Client(mock.url, mock.key, requireMockConformity);
  return { ...mock, client, [Symbol.asyncDispose]: mock.close };
}

type TestProxy = ContractProxy & {
  /** The lines that the proxy has printed. */
  readonly lines: string[];
} & AsyncDisposable;

/** Starts a proxy on a free port that checks the server at `target` against the contract. */
export async function startTestProxy(target: string): Promise<TestProxy> {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const proxy = await startProxy({ target: new URL(target), port: 0, host: '127.0.0.1', print });
  return { ...proxy, lines, [Symbol.asyncDispose]: proxy.close };
}
