import { isNativeError } from 'node:util/types';

/** The `code` of an error from Node, pg or Prisma: "ECONNREFUSED", "57P01", "P2024". Empty if it has none or is not an error. */
export function codeOf(error: unknown): string {
  // Not instanceof: in a test, Node's own errors are of another realm.
  const code = isNativeError(error) ? memberOf(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}

/** A member that the value's type does not declare; undefined if there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
