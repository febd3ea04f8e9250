import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../../src/contract/document.ts';
import { CONTRACT, lintDocuments } from '../../lint/contract.ts';
import { contractFiles, lintFiles, pageFiles } from '../../lint/files.ts';
import { lintPages } from '../../lint/pages.ts';
import { inOrder, type Problem, problemsText } from '../../lint/problem.ts';
import { lintSpelling } from '../../lint/spelling.ts';
import { whenChanged } from '../../watch.ts';
import { workflowFiles } from '../../workflows/files.ts';

/**
 * Finds what `npm run lint` finds in openapi/, first in what was just saved. Each check runs only for the files that have changed.
 * `document`: the bundled contract; `null` if it cannot be bundled.
 */
export function createLinter(root: string): {
  /** The problems of the guides, the spelling of the saved files, and what was known of everything else. */
  inSaved(document: Json | null): Promise<string>;
  inAll(document: Json | null): Promise<string>;
} {
  const spelling = new Map<string, { readonly savedAt: number; readonly problems: readonly Problem[] }>();
  let ofDocuments: readonly Problem[] = [];
  const lintChanged = whenChanged(
    join(root, 'openapi'),
    (file) => !file.includes('/openapi/guides/'),
    async () => (await lintDocuments([CONTRACT, ...workflowFiles()])).flat(),
  );
  const guides = () => pageFiles().filter((file) => file.startsWith('openapi/guides/'));
  const spell = async (mostFiles: number) => {
    const times = new Map(
      [...contractFiles(), ...workflowFiles(), ...guides()].map((file) => [file, statSync(join(root, file)).mtimeMs]),
    );
    const changed = [...times].filter(([file, savedAt]) => spelling.get(file)?.savedAt !== savedAt);
    const found =
      changed.length > mostFiles || changed.length === 0 ? [] : await lintSpelling(changed.map(([file]) => file));
    if (changed.length <= mostFiles)
      for (const [file, savedAt] of changed)
        spelling.set(file, { savedAt, problems: found.filter((problem) => problem.file === file) });
    for (const file of spelling.keys()) if (!times.has(file)) spelling.delete(file);
  };
  const known = async (document: Json | null) => {
    const ofPages = await lintPages(guides(), document);
    const ofSpelling = [...spelling.values()].flatMap(({ problems }) => problems);
    return problemsText(inOrder([...ofDocuments, ...ofPages, ...lintFiles(), ...ofSpelling]));
  };
  return {
    async inSaved(document) {
      await spell(SAVED_AT_ONCE);
      return known(document);
    },
    async inAll(document) {
      [ofDocuments] = await Promise.all([lintChanged(), spell(Number.POSITIVE_INFINITY)]);
      return known(document);
    },
  };
}

/** An editor saves one file at a time, and some save all that are open. */
const SAVED_AT_ONCE = 5;
