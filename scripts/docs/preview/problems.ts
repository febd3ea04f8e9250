import type { Json } from '../../../src/api/document.ts';
import { lintContract } from '../../lint/contract.ts';
import { lintFiles, pageFiles } from '../../lint/files.ts';
import { lintPages } from '../../lint/pages.ts';
import { inOrder, problemsText } from '../../lint/problem.ts';

/** The problems that `npm run lint` finds in the contract and the guides. Spelling is left out, because it takes too long. */
export async function problemsNow(document: Json | null): Promise<string> {
  const guides = pageFiles().filter((file) => file.startsWith('openapi/guides/'));
  const [ofContract, ofGuides] = await Promise.all([lintContract(), lintPages(guides, document)]);
  return problemsText(inOrder([...ofContract, ...ofGuides, ...lintFiles()]));
}
