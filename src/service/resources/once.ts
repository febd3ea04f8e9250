import { createHash } from 'node:crypto';
import { type DomainError, invalidField } from '../../domain/errors.ts';
import { claimIdempotencyKey, IDEMPOTENCY_HOURS, recordResult } from '../../store/resources/idempotency-keys.ts';
import { checkKeyOfWrite } from '../../store/resources/key-of-write.ts';
import type { Stored, Table } from '../../store/resources/table.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { accepted, type WriteContext, writerOf } from './writing.ts';

export type Once = {
  /** The idempotency key. */
  readonly key: string;
  /** The same text for the same request, with the table and the operation, because the key may have been used for another one. */
  readonly request: string;
  /** Returns the result, which later requests get as well. */
  readonly work: () => Promise<string>;
};

/** Does the work of a request once, however often it is sent. Throws "invalid" if the key was used for another request. */
export async function once(
  tx: Transaction,
  context: WriteContext,
  table: Pick<Table<Stored>, 'writePermission'>,
  { key, request, work }: Once,
): Promise<string> {
  const { scope } = context.caller;
  const requestHash = createHash('sha256').update(request).digest();
  const claim = await claimIdempotencyKey(tx, scope, { key, requestHash });
  if (claim.kind === 'used') {
    const writer = writerOf(context, table);
    accepted(context, table, await checkKeyOfWrite(tx, scope, { ...writer, isLocked: false }));
    if (claim.requestHash.equals(requestHash)) return claim.result;
    throw usedKeyError();
  }
  const result = await work();
  await recordResult(tx, scope, { key, result });
  return result;
}

/** The refusal of an idempotency key that was used for another request. */
export function usedKeyError(): DomainError {
  return invalidField(
    'Idempotency-Key',
    `was used with another body within the last ${IDEMPOTENCY_HOURS} hours. Use a new key for a new request.`,
  );
}
