// The texts for readers: what they say must be true wherever it stands, so tests search all of them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');

/** The text of a file, such as "openapi/guides/errors.md". */
export const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));

/** The TypeScript files of a folder and of the folders in it. */
export const sourcesIn = (folder: string) =>
  filesIn(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));

/** The README, the guides and the other texts in Markdown. */
export const markdownFiles: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...[...filesIn('openapi'), ...filesIn('src')].filter((file) => file.endsWith('.md')),
];

/** Markdown and the contract, without what tells of the past or is an example of a mistake. */
const readersFiles = [
  ...markdownFiles.filter((file) => !/CHANGELOG\.md$|^openapi\/(?:lint|released)\//.test(file)),
  ...filesIn('openapi').filter((file) => /^openapi\/(?:openapi|(?:paths|components|webhooks)\/.*)\.yaml$/.test(file)),
];

/** The texts for readers by file, with each paragraph on one line. */
export const texts: ReadonlyMap<string, string> = new Map(
  readersFiles.map((file) => [file, read(file).replace(/\s*\n\s*/g, ' ')]),
);

/** The rows of the tables of environment variables. */
export const variables = markdownFiles
  .flatMap((file) => [...read(file).matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*) \|$/gm)])
  .map(([, name = '', initial = '', words = '']) => ({ name, initial, words }));
