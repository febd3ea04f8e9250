import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Document } from '../../src/api/contract.ts';

const ROOT = join(import.meta.dirname, '../..');
const REDOCLY = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
const EVERY_MS = 150;

export type Edit = { readonly document: Document } | { readonly problems: readonly string[] };

/** Tells of every edit of the contract from now on, below the folder of `entry`; resolves to how to end that. */
export async function watchEdits(entry: string, onEdit: (edit: Edit) => Promise<void>): Promise<() => void> {
  // By looking, not by fs.watch: that loses a file which an editor replaces, and knows no network folder.
  let isEnded = false;
  let seen = await fingerprintOf(dirname(entry));
  const look = async (): Promise<void> => {
    const now = await fingerprintOf(dirname(entry));
    if (now !== seen) await onEdit(await bundle(entry));
    seen = now;
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

/** The document as `npm run generate` would make it; or each problem, with its file and line. */
export async function bundle(entry: string): Promise<Edit> {
  const [lint, bundled] = await Promise.all([
    redocly(['lint', entry, '--format=json']),
    redocly(['bundle', entry, '--ext=json']),
  ]);
  const problems = problemsIn(lint.stdout);
  if (problems.length > 0) return { problems };
  if (lint.code !== 0 || bundled.code !== 0) return { problems: [unreadableIn(`${lint.stderr}${bundled.stderr}`)] };
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
  return `${place.source.ref}:${line}:${col}`;
}

/** Of the main file itself, when it is no YAML, Redocly tells in words alone. */
function unreadableIn(words: string): string {
  const [, reason, file = '', line, col] = /- (.+) in "(.+)" \((\d+):(\d+)\)/.exec(words) ?? [];
  return reason === undefined ? words.trim() : `${relative(ROOT, file)}:${line}:${col}  ${reason}`;
}

function redocly(parameters: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [REDOCLY, ...parameters, '--config', 'redocly.yaml'], {
    cwd: ROOT,
    env: {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      NO_COLOR: '1',
      FORCE_COLOR: '0',
    },
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => (printed.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk) => (printed.stderr += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...printed })));
}
