import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Issue, lint } from 'cspell';
import { root } from '../tool.ts';
import { inOrder, type Problem } from './problem.ts';

const WORDS = 'openapi/lint/words.txt';

/** Words that are in neither the British dictionary nor openapi/lint/words.txt. */
export async function lintSpelling(files: readonly string[]): Promise<Problem[]> {
  const issues: Issue[] = [];
  const failures: string[] = [];
  const ignore = () => {};
  await lint(
    files.map((file) => join(root, file)),
    {
      config: join(root, 'openapi/lint/cspell.json'),
      root,
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
      result: ignore,
    },
  );
  if (failures.length > 0) throw new Error(`The spelling cannot be checked.\n${failures.join('\n')}`);
  return inOrder(issues.map(problemOf));
}

function problemOf({ text, uri = '', row, col, suggestions = [], isFlagged }: Issue): Problem {
  const file = relative(root, fileURLToPath(uri));
  const [first] = suggestions;
  const instead = first === undefined ? '' : `Did you mean "${first}"? `;
  const remedy = isFlagged === true ? instead.trim() : `${instead}If it is right, add it to ${WORDS}.`;
  return { file, line: row, column: col, words: `"${text}" is not in the dictionary.`, remedy, rule: 'spelling' };
}
