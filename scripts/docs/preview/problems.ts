import { lintContract } from '../../lint/contract.ts';
import { lintFiles, pageFiles } from '../../lint/files.ts';
import { lintPages } from '../../lint/pages.ts';
import { inOrder, problemsText } from '../../lint/problem.ts';

/** What `npm run lint` says of the contract and the guides, but for the spelling, which takes longer than a writer waits. */
export async function problemsNow(): Promise<string> {
  const guides = pageFiles().filter((file) => file.startsWith('openapi/guides/'));
  const [ofContract, ofGuides] = await Promise.all([lintContract(), lintPages(guides)]);
  return problemsText(inOrder([...ofContract, ...ofGuides, ...lintFiles()]));
}
