import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tool.ts';

/** The folder of the package that a file belongs to, such as node_modules/@prisma/client; null for our own files. */
export function packageOf(file: string): string | null {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null;
}

/** A package.json, or a file like it; the path starts at the root of the checkout. */
export function readManifest(path: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}
