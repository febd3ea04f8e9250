import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Issue, lint, type RunResult } from 'cspell';
import { root } from '../tool.ts';
import { inOrder, type Problem } from './problem.ts';

const WORDS = 'openapi/lint/words.txt';

/** Words that are in neither the British dictionary nor openapi/lint/words.txt, of files below a folder. */
export async function lintSpelling(files: readonly string[], folder = root): Promise<Problem[]> {
  const issues: Issue[] = [];
  const failures: string[] = [];
  const ignore = () => {};
  await lint(
    files.map((file) => join(folder, file)),
    {
      config: join(root, 'openapi/lint/cspell.json'),
      root: folder,
      // Their words are of programs, and American.
      defaultConfiguration: false,
      configSearch: false,
      showSuggestions: true,
      progress: false,
      gitignore: false,
      cache: false,
    },
    {
      issue: (issue: Issue) => issues.push(issue),
      error: (message: string, error: Error) => failures.push(`${message}: ${error.message}`),
      info: ignore,
      debug: ignore,
      progress: ignore,
      // What it does not find it passes over in silence.
      result: ({ files: read }: RunResult) => {
        if (read !== files.length) failures.push(`It reads ${read} of ${files.length} files.`);
      },
    },
  );
  if (failures.length > 0) throw new Error(`The spelling cannot be checked.\n${failures.join('\n')}`);
  return inOrder(issues.map((issue) => problemOf(issue, folder)));
}

function problemOf({ text, uri = '', row, col, suggestions = [], isFlagged }: Issue, folder: string): Problem {
  const file = relative(folder, fileURLToPath(uri));
  const [first] = suggestions;
  const instead = first === undefined ? '' : `Did you mean "${first}"? `;
  const remedy = isFlagged === true ? instead.trim() : `${instead}If it is right, add it to ${WORDS}.`;
  return { file, line: row, column: col, words: `"${text}" is not in the dictionary.`, remedy, rule: 'spelling' };
}
