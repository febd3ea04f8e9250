// Finds or installs Chromium for the browser tests; only Debian packages are downloaded. Plain JavaScript, like run.mjs.
import { canInstallPackages, findOnPath, installPackages, isProgram } from './debian.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const HEADLESS_SHELL = 'chromium-headless-shell';
const FIXED = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  linux: ['/snap/bin/chromium', '/opt/google/chrome/chrome'],
};

export const REMEDY =
  'Install Chromium or Chrome (Debian: apt-get install chromium; macOS: brew install --cask google-chrome), or set CHROMIUM_PATH to its program.';

/** The path of the program, or null. If CHROMIUM_PATH is set, no other path is tried. */
export function findBrowser(env = process.env, platform = process.platform) {
  if (env.CHROMIUM_PATH) return isProgram(env.CHROMIUM_PATH) ? env.CHROMIUM_PATH : null;
  return findOnPath(NAMES, env) ?? (FIXED[platform] ?? []).find(isProgram) ?? null;
}

/** The path of the headless shell, or null: the part of Chromium that tests need, which starts several times as fast. */
export function findHeadlessShell(env = process.env) {
  return env.CHROMIUM_PATH ? null : findOnPath([HEADLESS_SHELL], env);
}

/** Whether `installBrowser` works here, and CHROMIUM_PATH asks for no other browser. */
export function canInstallBrowser(env = process.env) {
  return !env.CHROMIUM_PATH && canInstallPackages(env);
}

export function installBrowser(env = process.env) {
  return installPackages(['chromium', HEADLESS_SHELL, 'fonts-dejavu-core'], env);
}
