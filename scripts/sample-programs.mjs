// Finds or installs the programs that run the documentation's samples. Plain JavaScript, like run.mjs.
import { findOnPath, installPackages } from './debian.mjs';

/** The Debian packages of each program that `npm test` runs: the commands of the guides. */
const SHORT = { curl: ['curl'] };
/** `npm run soak` also runs the samples in every language. */
const FULL = { ...SHORT, bash: ['bash'], python3: ['python3'], go: ['golang-go'], php: ['php-cli', 'php-curl'] };

export const REMEDY =
  'Install them (Debian: apt-get install curl, and bash python3 golang-go php-cli php-curl for npm run soak).';

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
