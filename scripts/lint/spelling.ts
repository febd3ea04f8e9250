import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Issue, lint, type RunResult } from 'cspell';
import { root } from '../tool.ts';
import { inOrder, type Problem } from './problem.ts';

const WORDS = 'openapi/lint/words.txt';

/**
 * Returns the words in the files that are neither in the British dictionary nor in openapi/lint/words.txt. The paths of the files
 * are relative to the folder.
 */
export async function lintSpelling(files: readonly string[], folder = root): Promise<Problem[]> {
  const issues: Issue[] = [];
  const failures: string[] = [];
  const ignore = () => {};
  await lint(
    files.map((file) => join(folder, file)),
    {
      config: join(root, 'openapi/lint/cspell.json'),
      root: folder,
      // cspell's default configuration would add programming terms and American spelling.
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
      // Without this check, cspell would ignore missing files.
      result: ({ files: read }: RunResult) => {
        if (read !== files.length) failures.push(`cspell read ${read} of ${files.length} files.`);
      },
    },
  );
  if (failures.length > 0) throw new Error(`The spelling cannot be checked.\n${failures.join('\n')}`);
  return inOrder(issues.map((issue) => problemOf(issue, folder)));
}

/**
 * Matches an encoded value, such as a signature in base64: at least 16 characters without a space, with digits, capital and
 * lowercase letters.
 */
const CODE = /^(?=.*\d)(?=.*[A-Z])(?=.*[a-z])\S{16,}$/;

function problemOf({ text, uri = '', row, col, line, suggestions = [], isFlagged }: Issue, folder: string): Problem {
  const file = relative(folder, fileURLToPath(uri));
  const run = `${/\S*$/.exec(line.text.slice(0, col - 1))?.[0]}${/^\S*/.exec(line.text.slice(col - 1))?.[0]}`;
  if (CODE.test(run)) {
    const remedy = 'If it is a code and no word, put it in quotation marks in YAML, and in backticks in Markdown.';
    return { file, line: row, column: col, message: `"${text}" is not in the dictionary.`, remedy, rule: 'spelling' };
  }
  const [first] = suggestions;
  const suggestion = first === undefined ? '' : `Did you mean "${first}"? `;
  const remedy = isFlagged === true ? suggestion.trim() : `${suggestion}If the spelling is right, add it to ${WORDS}.`;
  return { file, line: row, column: col, message: `"${text}" is not in the dictionary.`, remedy, rule: 'spelling' };
}
