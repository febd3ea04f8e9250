import { StartUpError } from './domain/errors.ts';
import { isNetwork } from './domain/forbidden-address.ts';
import { type Keyring, parseKeyring } from './domain/keyring.ts';

// Reads the values of environment variables. Each function throws a StartUpError for a value that is not valid.

/** Returns the value of an environment variable; `undefined` if the variable is unset or empty. */
export type Variable = (name: string) => string | undefined;

export function readInteger(
  name: string,
  text: string | undefined,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw invalidError(name, text, `an integer from ${min} to ${max}`);
}

export function readOneOf<T extends string>(
  name: string,
  text: string | undefined,
  { fallback, allowed }: { fallback: T; allowed: readonly T[] },
): T {
  if (text === undefined) return fallback;
  const value = allowed.find((each) => each === text);
  if (value === undefined) throw invalidError(name, text, `one of ${allowed.join(', ')}`);
  return value;
}

/** Reads a number from 0 to 1. Default: 1. */
export function readRatio(
  name: string,
  text: string | undefined,
  { allowsZero }: { readonly allowsZero: boolean },
): number {
  if (text === undefined) return 1;
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value <= 1 && (allowsZero || value > 0)) return value;
  throw invalidError(
    name,
    text,
    allowsZero ? 'a number from 0 to 1, such as 0.1' : 'a number above 0 and up to 1, such as 0.01',
  );
}

/** Reads a comma-separated list of addresses, subnets and names. Only the names in `names` are valid. */
export function readNetworks(name: string, text: string | undefined, names: readonly string[] = []): string[] {
  const given = (text ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (given.every((each) => names.includes(each) || isNetwork(each))) return given;
  const others = names.length === 0 ? '' : `, or ${names.join(', ')}`;
  throw invalidError(name, text ?? '', `addresses and subnets, separated by commas, such as 10.0.0.0/8${others}`);
}

export function invalidError(name: string, text: string, allowed: string): StartUpError {
  return new StartUpError(`${name} is invalid: ${JSON.stringify(text)}.`, `Set it to ${allowed}, or unset it.`);
}

export const MAKE_A_KEY = 'openssl rand -base64 32';

export function readKeyring(text: string | undefined, name = 'ENCRYPTION_KEY'): Keyring | undefined {
  if (text === undefined) return undefined;
  const parsed = parseKeyring(text);
  if (parsed !== null) return parsed;
  // The message does not contain the value, because the value is a secret.
  throw new StartUpError(
    `${name} is not a key of 32 bytes in base64, or several separated by commas.`,
    `Correct it. Only for a new database, set it to the output of: ${MAKE_A_KEY}`,
  );
}

export function readDatabaseUrl(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // The message does not contain the value, because the value contains a password.
  if (URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol)) return text;
  throw new StartUpError(
    `${name} is not a PostgreSQL URL.`,
    `Set it to one such as postgresql://user:password@host:5432/charter, or unset it${name === 'DATABASE_URL' ? ' to use the embedded PostgreSQL' : ''}.`,
  );
}

export function readOrigin(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (isOrigin) return url.origin;
  throw new StartUpError(
    `${name} is not an origin.`,
    'Set it to http or https with a host and an optional port, such as https://charter.example.org, or unset it.',
  );
}
