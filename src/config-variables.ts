import { readFileSync } from 'node:fs';
import type { Variable } from './config-values.ts';
import { StartUpError } from './domain/errors.ts';
import { editDistance } from './domain/text.ts';

// How environment variables are read: from the environment, or, for secrets, from files.

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables whose values are not trimmed, because the path of a file or folder may end with a line break. */
const PATHS = ['DATA_DIR', 'CHARTER_CELL_DOMAINS'];

/**
 * The variables whose values contain a secret. For each, a variable with the suffix _FILE can name a file that contains the
 * value.
 */
export const SECRETS = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'ENCRYPTION_KEY',
  'SMTP_URL',
  'CHARTER_CELLS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
];

/** Returns the function that reads the variables of `env`. An empty variable counts as unset. */
export function variablesIn(env: Environment): Variable {
  return (name) => {
    const given = SECRETS.includes(name) ? readSecret(env, name) : env[name];
    // Files with variables or secrets often end with a line break, which becomes part of a value.
    return (PATHS.includes(name) ? given : given?.replaceAll(/^[\r\n]+|[\r\n]+$/g, '')) || undefined;
  };
}

function readSecret(env: Environment, name: string): string | undefined {
  const value = env[name] || undefined;
  const path = env[`${name}_FILE`] || undefined;
  if (path === undefined) return value;
  if (value !== undefined)
    throw new StartUpError(
      `Both ${name} and ${name}_FILE are set.`,
      'Unset one of them, so that it is clear which counts.',
    );
  const text = readText(name, path);
  if (text.trim() !== '') return text;
  throw new StartUpError(`The file of ${name}_FILE is empty: ${path}.`, `Write the value of ${name} to it.`);
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const remedy = `Set it to the path of a file with the value of ${name}, which the user of the server may read.`;
    throw new StartUpError(`The file of ${name}_FILE could not be read: ${reason}.`, remedy, { cause });
  }
}

/** Variables that other programs of Charter read. */
const OF_OTHER_PROGRAMS = ['CHARTER_API_KEY', 'CHARTER_URL'];
const OURS = /^CHARTER_/;

/**
 * Returns the variables of `env` that look like a server's variables but are not in `known`. `similar` is the most similar name
 * in `known`; `null` if no name is similar. A typing mistake in an optional variable has no other symptom.
 */
export function findUnknownVariables(
  env: Environment,
  known: readonly string[],
): { readonly name: string; readonly similar: string | null }[] {
  const unknown = Object.keys(env).filter((name) => !known.includes(name) && !OF_OTHER_PROGRAMS.includes(name));
  return unknown
    .map((name) => ({ name, similar: similarTo(name, known) }))
    .filter(({ name, similar }) => similar !== null || OURS.test(name))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * The minimum length of a name for which two mistakes still count as similar. Shorter names are often similar to variables of
 * other programs.
 */
const LONG = 8;

function similarTo(name: string, known: readonly string[]): string | null {
  const distances = known.map((each) => ({ each, distance: editDistance(name.toUpperCase(), each) }));
  const near = distances.filter(({ each, distance }) => distance <= (each.length < LONG ? 1 : 2));
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.each ?? null;
}
