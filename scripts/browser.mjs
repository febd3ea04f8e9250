// Finds the machine's own Chromium for the browser tests, or says how one gets here. Nothing but Debian's packages is ever
// downloaded. Plain JavaScript, as run.mjs is.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const FIXED = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  linux: ['/snap/bin/chromium', '/opt/google/chrome/chrome'],
};

export const REMEDY =
  'Install Chromium or Chrome (Debian: apt-get install chromium; macOS: brew install --cask google-chrome), or set CHROMIUM_PATH to its program.';

/** The program's path, or null. CHROMIUM_PATH decides alone where it is set. */
export function findBrowser(env = process.env, platform = process.platform) {
  if (env.CHROMIUM_PATH) return isProgram(env.CHROMIUM_PATH) ? env.CHROMIUM_PATH : null;
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const named = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...named, ...(FIXED[platform] ?? [])].find(isProgram) ?? null;
}

/** Whether installBrowser can do it: as root, where Debian's packages are, and where no other one is asked for. */
export function canInstallBrowser(env = process.env) {
  return !env.CHROMIUM_PATH && process.getuid?.() === 0 && aptGet(env) !== undefined;
}

export function installBrowser(env = process.env) {
  const apt = aptGet(env);
  const options = { encoding: 'utf8', env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  const lists = spawnSync(apt, ['update'], options);
  if (lists.status !== 0) return lists;
  return spawnSync(apt, ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'], options);
}

function aptGet({ PATH = '' }) {
  return PATH.split(delimiter)
    .map((folder) => join(folder, 'apt-get'))
    .find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
