// Installs missing programs from Debian packages. Plain JavaScript, like run.mjs.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of the first of these programs in PATH, or null. */
export function findOnPath(names, { PATH = '' } = process.env) {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram) ?? null;
}

/** Whether `installPackages` works here: as root, with apt-get. */
export function canInstallPackages(env = process.env) {
  return process.getuid?.() === 0 && findOnPath(['apt-get'], env) !== null;
}

export function installPackages(packages, env = process.env) {
  const apt = findOnPath(['apt-get'], env);
  const options = { encoding: 'utf8', env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  const lists = spawnSync(apt, ['update'], options);
  if (lists.status !== 0) return lists;
  return spawnSync(apt, ['install', '-y', '--no-install-recommends', ...packages], options);
}

export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
