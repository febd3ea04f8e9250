import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Document } from '../../src/api/contract.ts';

const ROOT = join(import.meta.dirname, '../..');
const REDOCLY = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
const EVERY_MS = 150;

export type Edit = { readonly document: Document } | { readonly problems: readonly string[] };

/** Tells of every edit of the contract below the folder of `entry`, once it is bundled; returns how to end that. */
export function watchEdits(entry: string, onEdit: (edit: Edit) => Promise<void>): () => void {
  // By looking, not by fs.watch: that loses a file which an editor replaces, and knows no network folder.
  let isEnded = false;
  let seen: string | undefined;
  const look = async (): Promise<void> => {
    const now = await fingerprintOf(dirname(entry));
    if (seen !== undefined && now !== seen) await onEdit(await bundle(entry));
    seen = now;
  };
  const again = (): void => {
    if (isEnded) return;
    setTimeout(
      () =>
        look()
          .catch(() => {})
          .finally(again),
      EVERY_MS,
    ).unref();
  };
  look().finally(again);
  return () => {
    isEnded = true;
  };
}

async function fingerprintOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const stats = await Promise.all(
    files.map(async (file) => [file, (await stat(file)).mtimeMs, (await stat(file)).size]),
  );
  return JSON.stringify(stats.sort());
}

/** The document as `npm run generate` would make it; or each problem, with its file and line. */
export async function bundle(entry: string): Promise<Edit> {
  const [lint, bundled] = await Promise.all([
    redocly(['lint', entry, '--format=json']),
    redocly(['bundle', entry, '--ext=json']),
  ]);
  const problems = problemsIn(lint.stdout);
  if (problems.length > 0) return { problems };
  if (lint.code !== 0 || bundled.code !== 0) return { problems: [`${lint.stderr}${bundled.stderr}`.trim()] };
  return { document: JSON.parse(bundled.stdout) };
}

type Problem = {
  readonly message: string;
  readonly severity: string;
  readonly location: readonly { source: { ref: string }; start?: { line: number; col: number } }[];
};

function problemsIn(report: string): string[] {
  const start = report.indexOf('{');
  const problems: readonly Problem[] = start < 0 ? [] : JSON.parse(report.slice(start)).problems;
  return problems
    .filter(({ severity }) => severity === 'error')
    .map(({ message, location: [place] }) => `${wordsOf(place)}  ${message}`);
}

function wordsOf(place: Problem['location'][number] | undefined): string {
  if (place === undefined) return 'openapi';
  const { line = 1, col = 1 } = place.start ?? {};
  return `${relative(ROOT, join(ROOT, place.source.ref))}:${line}:${col}`;
}

function redocly(parameters: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [REDOCLY, ...parameters, '--config', 'redocly.yaml'], {
    cwd: ROOT,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', FORCE_COLOR: '0' },
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => (printed.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk) => (printed.stderr += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...printed })));
}
