import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const root = join(import.meta.dirname, '..');
const PACKAGES = { redocly: '@redocly/cli', prisma: 'prisma', tsc: 'typescript-native' } as const;

type Tool = keyof typeof PACKAGES;

/**
 * Runs a tool of node_modules with the same Node as this process. If the tool fails, throws an error with its output and the
 * remedy.
 */
export async function runTool(
  tool: Tool,
  parameters: readonly string[],
  remedy: string,
  env = process.env,
): Promise<void> {
  const { code, printed } = await tryTool(tool, parameters, { env });
  if (code !== 0) throw new Error(`${printed.trim()}\n${remedy}`);
}

/** Runs a tool and returns its exit code and output. `printed` contains both stdout and stderr. */
export async function tryTool(
  tool: Tool,
  parameters: readonly string[],
  { env = process.env, cwd = root }: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<{ code: number | null; printed: string; stdout: string }> {
  const folder = join(root, 'node_modules', PACKAGES[tool]);
  const { bin } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const child = spawn(process.execPath, [join(folder, typeof bin === 'string' ? bin : bin[tool]), ...parameters], {
    cwd,
    env: { ...env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  let printed = '';
  let stdout = '';
  // With an encoding, the stream decodes characters correctly that are split between two chunks.
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    printed += chunk;
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    printed += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, printed, stdout };
}

/** Runs npm offline, and returns what npm prints to standard output. */
export async function runNpm(parameters: readonly string[], folder: string): Promise<string> {
  // npm sets npm_execpath for its scripts. Without this variable, npm is looked up in PATH.
  const script = process.env['npm_execpath'];
  const [command, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(command, [...first, ...parameters, '--offline'], options)).stdout;
}
