// Finds or installs the programs that run the documentation's samples. Plain JavaScript, like run.mjs.
import { findOnPath, installPackages } from './debian.mjs';

/** The Debian packages of each program. */
const SHORT = { bash: ['bash'], curl: ['curl'], python3: ['python3'] };
/** Go and PHP are large, so only the full-length tests run their samples. */
const FULL = { ...SHORT, go: ['golang-go'], php: ['php-cli', 'php-curl'] };

export const REMEDY =
  'Install them (Debian: apt-get install bash curl python3, and golang-go php-cli php-curl for npm run soak).';

/** The programs that are not in PATH. */
export function missingPrograms({ isFull = false, env = process.env } = {}) {
  return Object.keys(isFull ? FULL : SHORT).filter((name) => findOnPath([name], env) === null);
}

export function installPrograms(names, env = process.env) {
  return installPackages(
    names.flatMap((name) => FULL[name]),
    env,
  );
}
