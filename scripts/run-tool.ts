import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

export type ToolRun = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs a tool of node_modules with this very Node, from the root of the checkout. It calls nobody's host. */
export async function runTool(tool: string, parameters: readonly string[], env = process.env): Promise<ToolRun> {
  const folder = join(root, 'node_modules', packageOf(tool));
  const { bin } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const child = spawn(process.execPath, [join(folder, typeof bin === 'string' ? bin : bin[tool]), ...parameters], {
    cwd: root,
    env: { ...env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    printed.stderr += chunk;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, ...printed };
}

function packageOf(tool: string): string {
  return tool === 'redocly' ? '@redocly/cli' : tool;
}
