// Installs missing programs from Debian packages. Plain JavaScript, like run.mjs.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
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
  return runAfterUpdate(['install', '-y', '--no-install-recommends', ...packages], { env });
}

/**
 * Unpacks packages in a folder, without those that they depend on. Unlike an installation, this starts no service. Keeps the
 * downloaded packages in another folder, so that a second time needs no network.
 */
export function unpackPackages(packages, { folder, downloads, env = process.env }) {
  for (const each of [folder, downloads]) mkdirSync(each, { recursive: true });
  const find = () => packages.map((name) => readdirSync(downloads).find((file) => file.startsWith(`${name}_`)));
  if (find().includes(undefined)) {
    const downloaded = runAfterUpdate(['download', ...packages], { env, cwd: downloads });
    if (downloaded.status !== 0) return downloaded;
  }
  const unpacked = find().map((file) =>
    spawnSync('dpkg-deb', ['-x', join(downloads, file), folder], { encoding: 'utf8', env }),
  );
  return unpacked.find(({ status }) => status !== 0) ?? unpacked[0];
}

function runAfterUpdate(parameters, { env, cwd }) {
  const apt = findOnPath(['apt-get'], env);
  const options = { encoding: 'utf8', cwd, env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  // One process at a time: apt-get fails while another one runs, such as that of another test.
  const run = (...each) => spawnSync('flock', ['/etc', apt, ...each], options);
  const lists = run('update');
  return lists.status === 0 ? run(...parameters) : lists;
}

export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
