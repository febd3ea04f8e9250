import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from '../src/contract/contract.ts';
import type { Json } from '../src/contract/document.ts';
import { CONFIG, lintDocuments } from './lint/contract.ts';
import { type Problem, problemsText } from './lint/problem.ts';
import { tryTool } from './tool.ts';

/** The contract cannot be bundled. The problems have the same wording as those of `npm run lint`. */
export class UnbundledError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problemsText(problems));
    this.name = 'UnbundledError';
    this.problems = problems;
  }
}

/** The rules of the linter whose problems prevent bundling. */
const RULES = ['yaml', 'no-unresolved-refs'];

/**
 * Bundles the main file of a contract and the files to which it refers into one document. With `isDereferenced`, replaces every
 * `$ref` with its target. Throws an `UnbundledError` if a file cannot be read or a `$ref` has no target.
 */
export async function bundleContract(
  mainFile: string,
  { isDereferenced = false }: { isDereferenced?: boolean } = {},
): Promise<Document & Json> {
  return JSON.parse(await bundleTo('json', mainFile, isDereferenced ? ['--dereferenced'] : []));
}

export async function yamlOf(document: Json): Promise<string> {
  return inScratch(async (folder) => {
    const file = join(folder, 'document.json');
    await writeFile(file, JSON.stringify(document));
    return bundleTo('yaml', file);
  });
}

/** Bundles the contract with Redocly and returns Redocly's output. */
export async function bundleTo(
  format: 'json' | 'yaml',
  mainFile: string,
  flags: readonly string[] = [],
): Promise<string> {
  return inScratch(async (folder) => {
    const output = join(folder, `bundled.${format}`);
    const { code, printed } = await tryTool('redocly', [
      'bundle',
      mainFile,
      '--config',
      CONFIG,
      '--output',
      output,
      ...flags,
    ]);
    if (code === 0) return readFile(output, 'utf8');
    const [found = []] = await lintDocuments([mainFile]);
    const problems = found.filter(({ rule }) => RULES.includes(rule));
    throw problems.length > 0 ? new UnbundledError(problems) : new Error(printed.trim());
  });
}

async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-bundle-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
