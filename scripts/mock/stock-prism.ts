import { join } from 'node:path';
import { listen } from '../../src/server.ts';
import { root } from '../tool.ts';

export type StockPrismOptions = {
  readonly port: number;
  readonly host: string;
  /** Generates data in place of the contract's examples. */
  readonly isDynamic: boolean;
  /** With `isDynamic`, a text always generates the same data; if it is omitted, each request gets other data. */
  readonly dynamicSeed: string | undefined;
};

/**
 * Runs the command `prism mock` of @stoplight/prism-cli in this process, on the published document. It prints its address
 * and every request, and serves until the process exits. Rejects where the port is in use.
 */
export async function runStockPrism({ port, host, isDynamic, dynamicSeed }: StockPrismOptions): Promise<void> {
  // Prism itself would exit, with its whole help text.
  await (await listen(() => {}, { host, port })).stop();
  process.argv = [
    process.execPath,
    'prism',
    'mock',
    join(root, 'generated/openapi.yaml'),
    `--host=${host}`,
    `--port=${port}`,
    // In production it would start a second process, which a signal to this one would leave behind.
    '--multiprocess=false',
    ...(isDynamic ? ['--dynamic'] : []),
    ...(dynamicSeed === undefined ? [] : [`--seed=${dynamicSeed}`]),
  ];
  await import('@stoplight/prism-cli');
}
