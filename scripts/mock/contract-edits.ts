import { dirname } from 'node:path';
import type { Document } from '../../src/api/contract.ts';
import { lintDocuments } from '../lint/contract.ts';
import type { Problem } from '../lint/problem.ts';
import { tryTool } from '../tool.ts';
import { onChange } from '../watch.ts';

export type Edit = { readonly document: Document } | { readonly problems: readonly string[] };

/** Tells of every edit of the contract from now on, below the folder of `entry`; resolves to how to end that. */
export function watchEdits(entry: string, onEdit: (edit: Edit) => Promise<void>): Promise<() => void> {
  return onChange(dirname(entry), async () => onEdit(await bundle(entry)));
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

function lineOf({ file, line, column, message, remedy }: Problem): string {
  return `${file}:${line}:${column}  ${message} ${remedy}`;
}
