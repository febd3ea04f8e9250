import { join } from 'node:path';
import type { Json } from '../../../src/contract/document.ts';
import { lintContract } from '../../lint/contract.ts';
import { lintFiles, pageFiles } from '../../lint/files.ts';
import { lintPages } from '../../lint/pages.ts';
import { inOrder, problemsText } from '../../lint/problem.ts';
import { whenChanged } from '../../watch.ts';

/**
 * Returns a function that finds the problems that `npm run lint` finds in the contract and the guides. Spelling is left out,
 * because it takes too long. Redocly takes seconds for the contract, so it lints it only if the contract or a rule changed.
 */
export function createLinter(root: string): (document: Json | null) => Promise<string> {
  const ofContract = whenChanged(join(root, 'openapi'), (file) => !file.includes('/openapi/guides/'), lintContract);
  return async (document) => {
    const guides = pageFiles().filter((file) => file.startsWith('openapi/guides/'));
    const found = await Promise.all([ofContract(), lintPages(guides, document)]);
    return problemsText(inOrder([...found.flat(), ...lintFiles()]));
  };
}
