import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Packs the package in `folder` with npm, asking no registry, and returns the tarball's path in `destination`. */
export async function pack(folder: string, destination: string): Promise<string> {
  // npm tells its scripts where it is; outside npm, it is found on the path.
  const script = process.env['npm_execpath'];
  const [command, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
  const parameters = ['pack', '--json', '--offline', '--ignore-scripts', '--pack-destination', destination];
  const child = spawn(command, [...first, ...parameters], { cwd: folder });
  let [printed, complaints] = ['', ''];
  child.stdout.on('data', (chunk) => (printed += chunk));
  child.stderr.on('data', (chunk) => (complaints += chunk));
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Error(`${complaints.trim()}\nnpm cannot pack the client.`);
  const [{ filename }] = JSON.parse(printed);
  return join(destination, filename);
}
