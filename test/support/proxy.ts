import { type ContractProxy, startProxy } from '../../scripts/mock/proxy.ts';

export type Watched = ContractProxy & {
  /** What it has printed. */
  readonly lines: string[];
};

/** A proxy that holds the server at `target` against the contract, on any free port. */
export async function watch(target: string): Promise<Watched> {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  return { ...(await startProxy({ target: new URL(target), port: 0, host: '127.0.0.1', print })), lines };
}
