// The mock in a checkout: it serves the generated contract, and edits of its files.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readDocument } from '../../src/contract/contract.ts';
import { yamlOf } from '../bundle.ts';
import { root } from '../tool.ts';
import type { Assets } from './assets.ts';
import { followEdits } from './contract-edits.ts';
import { readPageStyle } from './page-style.ts';
import { type Mock, type MockOptions, openMock } from './server.ts';

export type CheckoutOptions = MockOptions & {
  /** The contract's main file, whose edits are followed. The published contract is served if it is omitted. */
  readonly mainFile?: string | undefined;
};

/** Rejects where the port is in use. */
export async function startMock({ mainFile, ...options }: CheckoutOptions = {}): Promise<Mock> {
  const mock = await openMock(await readAssets(), options);
  const { print = () => {} } = options;
  const endEdits =
    mainFile === undefined
      ? () => {}
      : await followEdits(mainFile, {
          serve: (document) => mock.serve({ document, yaml: () => yamlOf({ ...document }) }),
          print,
        });
  return {
    ...mock,
    close() {
      endEdits();
      return mock.close();
    },
  };
}

async function readAssets(): Promise<Assets> {
  const [document, page] = await Promise.all([readDocument(), readPageStyle()]);
  return { document, yaml: () => readFile(join(root, 'generated/openapi.yaml'), 'utf8'), ...page };
}
