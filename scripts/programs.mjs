// Finds the programs that are not npm packages, and installs them from Debian packages. This is plain JavaScript, like run.mjs.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Chromium, for the browser tests.

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const HEADLESS_SHELL = 'chromium-headless-shell';
const FIXED = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  linux: ['/snap/bin/chromium', '/opt/google/chrome/chrome'],
};

export const BROWSER_REMEDY =
  'Install Chromium or Chrome (Debian: apt-get install chromium; macOS: brew install --cask google-chrome), or set CHROMIUM_PATH to its program.';

/** Returns the path of a browser, or `null`. If CHROMIUM_PATH is set, tries no other path. */
export function findBrowser(env = process.env, platform = process.platform) {
  if (env.CHROMIUM_PATH) return isProgram(env.CHROMIUM_PATH) ? env.CHROMIUM_PATH : null;
  return findOnPath(BROWSERS, env) ?? (FIXED[platform] ?? []).find(isProgram) ?? null;
}

/**
 * Returns the path of Chromium's headless shell, or `null`. The tests need only the shell, which starts several times as fast as
 * Chromium.
 */
export function findHeadlessShell(env = process.env) {
  return env.CHROMIUM_PATH ? null : findOnPath([HEADLESS_SHELL], env);
}

/** Returns whether `installBrowser` can work here. Returns false if CHROMIUM_PATH names a browser. */
export function canInstallBrowser(env = process.env) {
  return !env.CHROMIUM_PATH && canInstallPackages(env);
}

export function installBrowser(env = process.env) {
  return installPackages(['chromium', HEADLESS_SHELL, 'fonts-dejavu-core'], env);
}

// promtool, Prometheus's program that checks metrics and rules.

const PROMETHEUS = join(dirname(fileURLToPath(import.meta.url)), '../node_modules/.cache/prometheus');

export function findPromtool() {
  return findOnPath(['promtool']) ?? findOnPath(['promtool'], { PATH: join(PROMETHEUS, 'usr/bin') });
}

/** Unpacks promtool without installing its package. An installation would start Prometheus. */
export function unpackPromtool() {
  if (!canInstallPackages() || findOnPath(['dpkg-deb']) === null) return null;
  unpackPackages(['prometheus'], { folder: PROMETHEUS, downloads: PROMETHEUS });
  return findPromtool();
}

// The programs that run the code samples in the documentation.

/** The programs for `npm test`, which runs the commands in the guides. The values are Debian packages. */
const SHORT = { curl: ['curl'] };
/** The programs for `npm run soak`, which also runs the code samples in all other languages. */
const FULL = { ...SHORT, bash: ['bash'], python3: ['python3'], go: ['golang-go'], php: ['php-cli', 'php-curl'] };

export const PROGRAMS_REMEDY =
  'Install them (Debian: apt-get install curl, and bash python3 golang-go php-cli php-curl for npm run soak).';

/** Returns the names of the programs that are not in PATH. */
export function missingPrograms({ isFull = false, env = process.env } = {}) {
  return Object.keys(isFull ? FULL : SHORT).filter((name) => findOnPath([name], env) === null);
}

export function installPrograms(names, env = process.env) {
  return installPackages(
    names.flatMap((name) => FULL[name]),
    env,
  );
}

// Debian packages.

/** Returns the path of the first of these programs in PATH, or `null`. */
export function findOnPath(names, { PATH = '' } = process.env) {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram) ?? null;
}

/** Returns whether `installPackages` can work here: it needs apt-get and the rights of root. */
export function canInstallPackages(env = process.env) {
  return process.getuid?.() === 0 && findOnPath(['apt-get'], env) !== null;
}

export function installPackages(packages, env = process.env) {
  return runAfterUpdate(['install', '-y', '--no-install-recommends', ...packages], { env });
}

/**
 * Unpacks packages into a folder, without their dependencies. Unlike an installation, unpacking starts no service. The downloaded
 * packages stay in the folder `downloads`, so that unpacking them again needs no network.
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
  // Runs only one apt-get at a time. A second one, for example for another test, would fail.
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
