import { isNativeError } from 'node:util/types';

/** The code of an error of Node's, pg's or Prisma's: "ECONNREFUSED", "57P01", "P2024". Empty: it has none, or is no error. */
export function codeOf(error: unknown): string {
  // Not instanceof: an error of another realm counts too, as Node's own are in a test.
  const code = isNativeError(error) ? memberOf(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}

/** What is there under a name that the value's type does not tell of. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
