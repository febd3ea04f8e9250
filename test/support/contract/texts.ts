// The texts for readers. Tests search all of them, because a statement must be true wherever it occurs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');

/** Returns the text of a file, such as "openapi/guides/errors.md". */
export const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));

/** Returns the TypeScript files of a folder and of its subfolders. */
export const sourcesIn = (folder: string) =>
  filesIn(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));

/** The README, the guides and the other texts in Markdown. */
export const markdownFiles: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...[...filesIn('openapi'), ...filesIn('src')].filter((file) => file.endsWith('.md')),
];

/** The Markdown files and the contract, except for the texts about earlier versions and the examples of mistakes. */
const readersFiles = [
  ...markdownFiles.filter((file) => !/CHANGELOG\.md$|^openapi\/(?:lint|released)\//.test(file)),
  ...filesIn('openapi').filter((file) => /^openapi\/(?:openapi|(?:paths|components|webhooks)\/.*)\.yaml$/.test(file)),
];

/** The texts for readers by file, each as one line. */
export const texts: ReadonlyMap<string, string> = new Map(
  readersFiles.map((file) => [file, read(file).replace(/\s*\n\s*/g, ' ')]),
);

/** The rows of the tables of environment variables. */
export const variables = markdownFiles
  .flatMap((file) => [...read(file).matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*) \|$/gm)])
  .map(([, name = '', initial = '', words = '']) => ({ name, initial, words }));
