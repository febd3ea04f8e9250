// Prepares in memory everything that the command writes, so that a mistake leaves the checkout unchanged.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root } from '../tool.ts';
import type { Edit } from './edits.ts';

export type Change = {
  readonly path: string;
  readonly text: string;
  /** The current text of the file; `null` if the file is new. */
  readonly previous: string | null;
};

export function newFile(path: string, text: string): Change {
  return { path, text: format(path, text), previous: null };
}

/** Applies the edits in order. If an edit does not fit, throws an error that names the file and the place. */
export async function applyEdits(edits: readonly Edit[]): Promise<Change[]> {
  const files = [...new Set(edits.map(({ file }) => file))];
  return Promise.all(
    files.map(async (path) => {
      const previous = await readFile(join(root, path), 'utf8');
      const text = edits.filter(({ file }) => file === path).reduce(apply, previous);
      return { path, text: format(path, text), previous };
    }),
  );
}

function apply(text: string, { file, place, change }: Edit): string {
  const times = [...text.matchAll(new RegExp(place, `${place.flags}g`))].length;
  if (times === 1) return text.replace(place, change);
  throw new Error(
    `${file}: the place of the new text was found ${times} times, not once: ${place}. ` +
      'Restore the place, or correct it in scripts/new-resource/.',
  );
}

/** Formats TypeScript like "npm run format". */
function format(path: string, text: string): string {
  if (!path.endsWith('.ts')) return text;
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [biome, 'check', '--write', `--stdin-file-path=${path}`],
    { cwd: root, input: text, encoding: 'utf8' },
  );
  if (status === 0) return stdout;
  throw new Error(`${path} could not be formatted. This is a mistake in scripts/new-resource/.\n${stderr}`);
}

/** Throws if one of the new files already exists. */
export function requireNew(changes: readonly Change[]): void {
  const existing = changes.filter(({ path, previous }) => previous === null && existsSync(join(root, path)));
  if (existing.length === 0) return;
  const list = existing.map(({ path }) => `  ${path}`).join('\n');
  throw new Error(`These files exist, and nothing was written. Choose another name, or remove them:\n${list}`);
}

/** Writes all files. If a file cannot be written, restores the checkout. */
export async function write(changes: readonly Change[]): Promise<void> {
  const begun: Change[] = [];
  try {
    for (const change of changes) {
      begun.push(change);
      const file = join(root, change.path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, change.text);
    }
  } catch (error) {
    for (const { path, previous } of begun)
      await (previous === null ? rm(join(root, path), { force: true }) : writeFile(join(root, path), previous));
    throw error;
  }
}
