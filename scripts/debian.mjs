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
  // One process at a time: apt-get fails while another one runs, such as that of another test.
  const run = (...parameters) => spawnSync('flock', ['/etc', apt, ...parameters], options);
  const lists = run('update');
  if (lists.status !== 0) return lists;
  return run('install', '-y', '--no-install-recommends', ...packages);
}

export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
