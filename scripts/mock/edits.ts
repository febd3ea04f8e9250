import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Document } from '../../src/api/contract.ts';
import { lintDocuments } from '../lint/contract.ts';
import type { Problem } from '../lint/problem.ts';
import { tryTool } from '../tool.ts';

const EVERY_MS = 150;

export type Edit = { readonly document: Document } | { readonly problems: readonly string[] };

/** Tells of every edit of the contract from now on, below the folder of `entry`; resolves to how to end that. */
export async function watchEdits(entry: string, onEdit: (edit: Edit) => Promise<void>): Promise<() => void> {
  // By looking, not by fs.watch: that loses a file which an editor replaces, and knows no network folder.
  let isEnded = false;
  let seen = await fingerprintOf(dirname(entry));
  const look = async (): Promise<void> => {
    const now = await fingerprintOf(dirname(entry));
    if (now === seen) return;
    seen = now;
    await onEdit(await bundle(entry));
  };
  const again = (): void => {
    // What cannot be looked at now can be the next time: an editor is at work.
    if (!isEnded) setTimeout(() => look().then(again, again), EVERY_MS).unref();
  };
  again();
  return () => {
    isEnded = true;
  };
}

async function fingerprintOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const seen = await Promise.all(files.map(async (file) => ({ file, ...(await timeAndSize(file)) })));
  return JSON.stringify(seen.sort((a, b) => (a.file < b.file ? -1 : 1)));
}

async function timeAndSize(file: string): Promise<{ mtimeMs: number; size: number }> {
  const { mtimeMs, size } = await stat(file);
  return { mtimeMs, size };
}

/** The document as `npm run generate` would make it; or what `npm run lint` says of it, a line each. */
async function bundle(entry: string): Promise<Edit> {
  try {
    const [[problems = []], bundled] = await Promise.all([
      lintDocuments([entry]),
      tryTool('redocly', ['bundle', entry, '--ext=json']),
    ]);
    if (problems.length > 0) return { problems: problems.map(lineOf) };
    return bundled.code === 0 ? { document: JSON.parse(bundled.stdout) } : { problems: [bundled.printed.trim()] };
  } catch (error) {
    return { problems: [`${entry}: ${error instanceof Error ? error.message : error}`] };
  }
}

function lineOf({ file, line, column, words, remedy }: Problem): string {
  return `${file}:${line}:${column}  ${words} ${remedy}`;
}
