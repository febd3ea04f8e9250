import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from '../../run-tool.ts';
import type { Pages } from '../build.ts';
import { type Contract, readContract } from '../contract.ts';
import { type Guides, readGuides } from '../guides.ts';
import { renderPlain } from '../plain.ts';
import { DocsError, type Problem } from '../problem.ts';
import { renderRedoc, withDocument } from '../redoc.ts';
import { lintContract } from './problems.ts';

export type Shown = Pages & { readonly 'openapi.json': string };
export type Outcome = { readonly shown: Shown | null; readonly problems: readonly Problem[] };

/** Builds again and again; Redoc's part of the page only once, because it stays the same. */
export function createBuilder(root: string): () => Promise<Outcome> {
  let page: Promise<string> | undefined;
  return async () => {
    const contract = await bundle();
    if (contract === null) return { shown: null, problems: await lintContract() };
    try {
      const guides = await readGuides(root);
      page ??= renderRedoc(root, contract, guides);
      return { shown: await show(root, await page, contract, guides), problems: [] };
    } catch (error) {
      if (error instanceof DocsError) return { shown: null, problems: error.problems };
      page = undefined;
      throw error;
    }
  };
}

async function show(root: string, page: string, contract: Contract, guides: Guides): Promise<Shown> {
  const [index, plain] = await Promise.all([
    withDocument(root, page, contract, guides),
    renderPlain(root, contract, guides),
  ]);
  return { 'index.html': index, 'plain.html': plain, 'openapi.json': JSON.stringify(contract.document, null, 2) };
}

/** Null: it cannot be bundled. */
async function bundle(): Promise<Contract | null> {
  const scratch = await mkdtemp(join(tmpdir(), 'charter-preview-'));
  try {
    const file = join(scratch, 'openapi.json');
    const parameters = ['bundle', 'openapi/openapi.yaml', '--ext', 'json', '--output', file];
    const { code } = await runTool('redocly', parameters);
    return code === 0 ? await readContract(file) : null;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
