import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What a page may point to. Read from the files that are written by hand, so that it is never stale. */
export type Book = {
  readonly operationIds: ReadonlySet<string>;
  /** The names of components/schemas and components/examples. */
  readonly schemas: ReadonlySet<string>;
  readonly examples: ReadonlySet<string>;
  /** Whether there is such a file or folder, from the root of the checkout. */
  has(file: string): boolean;
  /** The names of the files in a folder. */
  namesIn(folder: string): readonly string[];
  /** The names of the headings of a Markdown file, as they stand behind "#" in a link. */
  anchorsOf(file: string): ReadonlySet<string>;
};

/** Loosely: a file that is no readable YAML is told of itself, not once more by every link to its operations. */
const OPERATION_ID = /^\s*operationId:?[ \t]+(\S+)/gm;

export function readBook(root: string): Book {
  const componentsIn = (folder: string) =>
    new Set(globSync(`openapi/components/${folder}/*.yaml`, { cwd: root }).map((file) => basename(file, '.yaml')));
  const paths = globSync('openapi/paths/*.yaml', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  return {
    operationIds: new Set(paths.flatMap((text) => [...text.matchAll(OPERATION_ID)].map(([, id = '']) => id))),
    schemas: componentsIn('schemas'),
    examples: componentsIn('examples'),
    has: (file) => existsSync(join(root, file)),
    namesIn: (folder) => globSync('*', { cwd: join(root, folder) }),
    anchorsOf: (file) => anchorsIn(readFileSync(join(root, file), 'utf8')),
  };
}

/** As GitHub makes them of headings, and the published page too: a second one of the same words gets "-1". */
export function anchorsIn(markdown: string): ReadonlySet<string> {
  const outsideCode = markdown.replace(/^(`{3,}).*?^\1$/gms, '');
  const seen = new Map<string, number>();
  for (const [, heading = ''] of outsideCode.matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const anchor = anchorOf(heading);
    seen.set(anchor, (seen.get(anchor) ?? 0) + 1);
  }
  const numbered = [...seen].flatMap(([anchor, times]) =>
    Array.from({ length: times }, (_, i) => (i === 0 ? anchor : `${anchor}-${i}`)),
  );
  return new Set(numbered);
}

/** "Rotating and revoking" is reached by "#rotating-and-revoking"; punctuation counts for nothing. */
function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}
