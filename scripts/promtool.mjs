// Finds promtool, the program of Prometheus that checks metrics and rules, or unpacks it from a Debian package. Plain
// JavaScript, like run.mjs.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canInstallPackages, findOnPath, unpackPackages } from './debian.mjs';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../node_modules/.cache/prometheus');

/** Its path, or null. */
export function findPromtool() {
  return findOnPath(['promtool']) ?? findOnPath(['promtool'], { PATH: join(folder, 'usr/bin') });
}

/** Unpacks the package. An installation would start a Prometheus, which would keep running. */
export function unpackPromtool() {
  if (!canInstallPackages() || findOnPath(['dpkg-deb']) === null) return null;
  unpackPackages(['prometheus'], { folder, downloads: folder });
  return findPromtool();
}
