import { type ContractProxy, startProxy } from '../../../scripts/mock/proxy.ts';

export type TestProxy = ContractProxy & {
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
