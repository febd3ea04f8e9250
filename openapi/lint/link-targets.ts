import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { GUIDES, guidesIn } from '../../scripts/docs/guides.ts';
import { headingsOf } from '../../scripts/docs/markdown.ts';
import type { Json } from '../../src/contract/document.ts';

/** What a page may link to or show, according to the files that are written by hand. */
export type LinkTargets = {
  /** The bundled contract; `null` if the contract cannot be bundled. */
  readonly document: Json | null;
  /** The ids of the operations that clients call. The ids of webhooks are separate. */
  readonly operationIds: ReadonlySet<string>;
  readonly webhookIds: ReadonlySet<string>;
  /** The names of the files in components/schemas and components/examples. */
  readonly schemas: ReadonlySet<string>;
  readonly examples: ReadonlySet<string>;
  /** The guides outside the folder of the guides, such as the client's README. */
  readonly guidesElsewhere: readonly string[];
  /** Returns whether the file or folder exists. The path is relative to the root of the checkout. */
  has(file: string): boolean;
  /** Returns the names of the files in a folder. */
  namesIn(folder: string): readonly string[];
  /** Returns the anchors of a Markdown file's headings, without "#". */
  anchorsOf(file: string): ReadonlySet<string>;
};

/**
 * Matches an operationId. The files are not parsed as YAML. Otherwise, a file with invalid YAML would have no operations, and
 * each link to its operations would be reported as a further problem.
 */
const OPERATION_ID = /^\s*operationId:?[ \t]+(\S+)/gm;

export function readLinkTargets(root: string, document: Json | null): LinkTargets {
  const componentsIn = (folder: string) =>
    new Set(globSync(`openapi/components/${folder}/*.yaml`, { cwd: root }).map((file) => basename(file, '.yaml')));
  const idsIn = (folder: string) =>
    new Set(
      globSync(`openapi/${folder}/*.yaml`, { cwd: root }).flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(OPERATION_ID)].map(([, id = '']) => id),
      ),
    );
  return {
    document,
    operationIds: idsIn('paths'),
    webhookIds: idsIn('webhooks'),
    schemas: componentsIn('schemas'),
    examples: componentsIn('examples'),
    guidesElsewhere: globSync(`${GUIDES}/guides.yaml`, { cwd: root })
      .flatMap((file) => guidesIn(readFileSync(join(root, file), 'utf8')))
      .map(({ file }) => file)
      .filter((file) => !file.startsWith(`${GUIDES}/`)),
    has: (file) => existsSync(join(root, file)),
    namesIn: (folder) => globSync('*', { cwd: join(root, folder) }),
    anchorsOf: (file) => new Set(headingsOf(readFileSync(join(root, file), 'utf8')).map(({ anchor }) => anchor)),
  };
}
