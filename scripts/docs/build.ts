import type { Contract } from './contract.ts';
import { readGuides } from './guides.ts';
import { renderPlain } from './plain/page.ts';
import { renderRedoc } from './redoc/page.ts';

/** The pages of the documentation, which link to each other and to the contract by these names. */
export type Pages = { readonly 'index.html': string; readonly 'plain.html': string };

export async function buildDocs(root: string, contract: Contract): Promise<Pages> {
  const guides = await readGuides(root);
  const [index, plain] = await Promise.all([renderRedoc(root, contract, guides), renderPlain(root, contract, guides)]);
  return { 'index.html': index, 'plain.html': plain };
}
