import { isNativeError } from 'node:util/types';
import { codeOf, memberOf } from '../../domain/errors.ts';

/** Codes of Node, SQLSTATE and Prisma that mean that the database is unavailable, not that there is a bug. */
const OUTAGE_CODES = [
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/,
  /^08/, // connection exception
  /^53/, // insufficient resources
  /^57P0/, // shutting down, crashed or starting
  /^57014$/, // statement_timeout
  /^(28|3D)/, // the password or the database is refused, although it was accepted at the start
  /^25(006|P03)$/, // read-only (a standby after a failover), or idle_in_transaction_session_timeout
  /^40(001|P01)$/, // serialization failure, deadlock
  /^P(1001|1002|1008|1017|2024|2028|2034|2037)$/, // Prisma's codes for the errors above
];
/** The kinds of errors, without a code, by which Prisma's adapter reports a reset connection or an unresponsive PostgreSQL. */
const OUTAGE_KINDS = ['ConnectionClosed', 'SocketTimeout', 'DatabaseNotReachable'];
const OUTAGE_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|is a standby|Can't reach database/i;

/** Returns whether the error means that the database could not be reached or did not respond in time; `false` for a bug. */
export function isOutage(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const codes = [codeOf(error), String(memberOf(error.cause, 'originalCode'))];
  if (OUTAGE_CODES.some((pattern) => codes.some((code) => pattern.test(code)))) return true;
  if (OUTAGE_MESSAGE.test(error.message) || OUTAGE_KINDS.includes(String(memberOf(error.cause, 'kind')))) return true;
  const several = memberOf(error, 'errors');
  // The error of a raw SQL statement has Prisma's code P2010 and contains PostgreSQL's error.
  const inner = [error.cause, adapterErrorOf(error), ...(Array.isArray(several) ? several : [])];
  return inner.some((each) => each !== error && isOutage(each));
}

export function isUniqueViolation(error: unknown): boolean {
  return violatedUnique(error) !== undefined;
}

/**
 * Returns PostgreSQL's message about a violated unique index. The message names the index. Returns `undefined` for any other
 * error.
 */
export function violatedUnique(error: unknown): string | undefined {
  const cause = memberOf(adapterErrorOf(error), 'cause');
  // `originalCode` is PostgreSQL's code, because Prisma's own code is different for raw SQL statements.
  return memberOf(cause, 'originalCode') === '23505' ? String(memberOf(cause, 'originalMessage')) : undefined;
}

/** Returns whether a write was refused because its organization is moving. The trigger for audit events raises this code. */
export function isRefusedByMove(error: unknown): boolean {
  return [codeOf(error), memberOf(memberOf(adapterErrorOf(error), 'cause'), 'originalCode')].includes('CHMOV');
}

/**
 * Returns whether a row was refused because of its values: SQLSTATE class 22 (data exception) or 23 (integrity constraint
 * violation).
 */
export function isRefusedValue(error: unknown): boolean {
  return /^2[23]/.test(String(memberOf(memberOf(adapterErrorOf(error), 'cause'), 'originalCode')));
}

/** Returns whether a statement waited for a lock for longer than lock_timeout. */
export function isLockTimeout(error: unknown): boolean {
  return [codeOf(error), memberOf(memberOf(adapterErrorOf(error), 'cause'), 'originalCode')].includes('55P03');
}

export function lacksPrivilege(error: unknown): boolean {
  return [codeOf(error), memberOf(memberOf(adapterErrorOf(error), 'cause'), 'originalCode')].includes('42501');
}

/** Returns the name of the foreign key that a write violated; `undefined` for any other error. */
export function violatedReference(error: unknown): string | undefined {
  const cause = memberOf(adapterErrorOf(error), 'cause');
  if (memberOf(cause, 'originalCode') !== '23503') return undefined;
  const constraint = memberOf(memberOf(cause, 'constraint'), 'index');
  return typeof constraint === 'string' ? constraint : undefined;
}

/** Returns PostgreSQL's error, which Prisma's error contains. */
function adapterErrorOf(error: unknown): unknown {
  return memberOf(memberOf(error, 'meta'), 'driverAdapterError');
}
