import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Packs the package in `folder` with npm, offline. Returns the path of the tarball in `destination`. */
export async function pack(folder: string, destination: string): Promise<string> {
  // npm sets npm_execpath for its scripts; without it, npm is looked up in PATH.
  const script = process.env['npm_execpath'];
  const [command, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
  const parameters = ['pack', '--json', '--offline', '--ignore-scripts', '--pack-destination', destination];
  const child = spawn(command, [...first, ...parameters], { cwd: folder });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Error(`${stderr.trim()}\nnpm cannot pack the package.`);
  const [{ filename }] = JSON.parse(stdout);
  return join(destination, filename);
}
