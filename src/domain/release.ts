// The version of Charter, and how its commands are called. A release (npm run dist) cannot use npm scripts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Whether this is a release, not a checkout of the repository. */
export const IS_RELEASE = existsSync(join(ROOT, 'charter.mjs'));

export const RELEASE_VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

/** Returns the words of a command before its parameters, such as "npm run admin --". */
export function commandLine(program: 'admin' | 'workflows'): string {
  return IS_RELEASE ? `node charter.mjs ${program}` : `npm run ${program} --`;
}

/** Returns this version and all earlier releases, the newest first. */
export function readReleases(): string[] {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const releases = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version = '']) => version);
  return releases.includes(RELEASE_VERSION) ? releases : [RELEASE_VERSION, ...releases];
}
