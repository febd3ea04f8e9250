import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryTool } from '../../tool.ts';
import type { Pages } from '../build.ts';
import { type Contract, readContract } from '../contract.ts';
import { type Guides, readGuides } from '../guides.ts';
import { renderPlain } from '../plain/page.ts';
import { renderRedoc, withDocument } from '../redoc/page.ts';

export type Preview = Pages & { readonly 'openapi.json': string };

/** Returns a function that builds the pages. Redocly builds its page only once, because only its document changes. */
export function createBuilder(root: string): () => Promise<Preview> {
  let page: Promise<string> | undefined;
  return async () => {
    const [contract, guides] = await Promise.all([bundle(root), readGuides(root)]);
    page ??= renderRedoc(root, contract, guides);
    page.catch(() => {
      page = undefined;
    });
    return render(root, await page, contract, guides);
  };
}

async function render(root: string, page: string, contract: Contract, guides: Guides): Promise<Preview> {
  const [index, plain] = await Promise.all([
    withDocument(root, page, contract, guides),
    renderPlain(root, contract, guides),
  ]);
  return { 'index.html': index, 'plain.html': plain, 'openapi.json': JSON.stringify(contract.document, null, 2) };
}

async function bundle(root: string): Promise<Contract> {
  const scratch = await mkdtemp(join(tmpdir(), 'charter-preview-'));
  try {
    const file = join(scratch, 'openapi.json');
    const parameters = ['bundle', 'openapi/openapi.yaml', '--ext', 'json', '--output', file];
    const { code, printed } = await tryTool('redocly', parameters, { cwd: root });
    if (code !== 0) throw new Error(printed.trim());
    return await readContract(file);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
