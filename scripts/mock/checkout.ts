// The mock in a checkout. It serves the generated contract or, if a main file is given, the edited contract after each edit.
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Document, readDocument } from '../../src/contract/contract.ts';
import { bundleContract, UnbundledError, yamlOf } from '../bundle.ts';
import { lintDocuments } from '../lint/contract.ts';
import type { Problem } from '../lint/problem.ts';
import { root } from '../tool.ts';
import { onChange } from '../watch.ts';
import { type Assets, readPageStyle } from './assets.ts';
import { type Mock, type MockOptions, openMock } from './server.ts';

export type CheckoutOptions = MockOptions & {
  /** The main file of a contract. Its folder is watched for edits. If it is omitted, nothing is watched. */
  readonly mainFile?: string | undefined;
};

/** Starts the mock. Rejects if the port is in use. */
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

type EditOptions = {
  /** Replaces the contract that is served. Rejects if the new contract cannot be served. */
  readonly serve: (document: Document) => Promise<void>;
  /** Called with one line for each problem and one line for the result. */
  readonly print: (line: string) => void;
};

/**
 * Watches the folder of the main file. After each edit, bundles and serves the contract. Resolves to a function that stops
 * watching.
 */
function followEdits(mainFile: string, { serve, print }: EditOptions): Promise<() => void> {
  return onChange(dirname(mainFile), async () => {
    const problems = await serveEdited(mainFile, serve).catch((error) => [
      `${relative(root, mainFile)}: ${error instanceof Error ? error.message : error}`,
    ]);
    for (const problem of problems) print(problem);
    print(
      problems.length === 0 ? 'The edited contract is served.' : 'The contract from before the edit is still served.',
    );
  });
}

/**
 * Checks the edited contract. If there are no problems, serves it as `npm run generate` would bundle it. Resolves to the problems
 * that `npm run lint` would report, one line for each.
 */
async function serveEdited(mainFile: string, serve: EditOptions['serve']): Promise<string[]> {
  const [problems = []] = await lintDocuments([mainFile]);
  if (problems.length > 0) return problems.map(lineOf);
  try {
    await serve(await bundleContract(mainFile));
    return [];
  } catch (error) {
    // Bundling fails after a successful check if a file has been changed in the meantime.
    if (error instanceof UnbundledError) return error.problems.map(lineOf);
    throw error;
  }
}

function lineOf({ file, line, column, message, remedy }: Problem): string {
  return `${file}:${line}:${column}  ${message} ${remedy}`;
}
