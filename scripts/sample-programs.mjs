// Finds or installs the programs that run the documentation's samples. Plain JavaScript, like run.mjs.
import { findOnPath, installPackages } from './debian.mjs';

/** Each has the name of its Debian package. */
const PROGRAMS = ['bash', 'curl', 'python3'];

export const REMEDY = 'Install them (Debian: apt-get install bash curl python3; macOS: xcode-select --install).';

/** The programs that are not in PATH. */
export function missingPrograms(env = process.env) {
  return PROGRAMS.filter((name) => findOnPath([name], env) === null);
}

export function installPrograms(env = process.env) {
  return installPackages(missingPrograms(env), env);
}
