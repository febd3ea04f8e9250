import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { GUIDES, guidesIn } from '../../scripts/docs/guides.ts';
import { headingsOf } from '../../scripts/docs/markdown.ts';
import type { Json } from '../../src/contract/document.ts';

/** What a page may link to or show, read from the files that are written by hand. */
export type LinkTargets = {
  /** The bundled contract; null: it cannot be bundled. */
  readonly document: Json | null;
  /** The operationIds of the operations that clients call. */
  readonly operationIds: ReadonlySet<string>;
  readonly webhookIds: ReadonlySet<string>;
  /** The names of components/schemas and components/examples. */
  readonly schemas: ReadonlySet<string>;
  readonly examples: ReadonlySet<string>;
  /** The guides that have their files elsewhere, such as the README of the client. */
  readonly guidesElsewhere: readonly string[];
  /** Whether the file or folder exists; the path starts at the root of the checkout. */
  has(file: string): boolean;
  /** The names of the files in a folder. */
  namesIn(folder: string): readonly string[];
  /** The anchors of a Markdown file's headings, without "#". */
  anchorsOf(file: string): ReadonlySet<string>;
};

/** A loose pattern: a file that is not valid YAML is one problem, not one more for every link to its operations. */
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
