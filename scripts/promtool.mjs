// Finds promtool, the program of Prometheus that checks metrics and rules, or unpacks it from a Debian package. Plain
// JavaScript, like run.mjs.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canInstallPackages, findOnPath } from './debian.mjs';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../node_modules/.cache/prometheus');

/** Its path, or null. */
export function findPromtool() {
  return findOnPath(['promtool']) ?? findOnPath(['promtool'], { PATH: join(folder, 'usr/bin') });
}

/** Not an installation, which would start a Prometheus that runs from then on. */
export function unpackPromtool() {
  if (!canInstallPackages() || findOnPath(['dpkg-deb']) === null) return null;
  const options = { encoding: 'utf8', cwd: folder };
  mkdirSync(folder, { recursive: true });
  if (spawnSync('apt-get', ['update'], options).status !== 0) return null;
  if (spawnSync('apt-get', ['download', 'prometheus'], options).status !== 0) return null;
  for (const file of readdirSync(folder)) if (file.endsWith('.deb')) spawnSync('dpkg-deb', ['-x', file, '.'], options);
  return findPromtool();
}
