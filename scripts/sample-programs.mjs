// Finds what the samples of the documentation are run with, or says how it gets here. Plain JavaScript, as run.mjs is.
import { canInstallPackages, findOnPath, installPackages } from './debian.mjs';

/** Programs by the names of their packages, which are their own. */
const PROGRAMS = ['bash', 'curl', 'python3'];

export const REMEDY = 'Install them (Debian: apt-get install bash curl python3; macOS: xcode-select --install).';

/** The names of those that are not on the path. */
export function missingPrograms(env = process.env) {
  return PROGRAMS.filter((name) => findOnPath([name], env) === null);
}

export function canInstallPrograms(env = process.env) {
  return canInstallPackages(env);
}

export function installPrograms(env = process.env) {
  return installPackages(missingPrograms(env), env);
}
