import { createHash } from 'node:crypto';
import { SentBeforeError } from '../domain/errors.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import type { Transaction } from '../store/database.ts';
import { claimIdempotencyKey } from '../store/idempotency-keys.ts';

/** An act that shows something once, and by which form it came; undefined: by none, so that it may be done again. */
export type ByForm = {
  /** Random, and given out by us. */
  readonly formId?: string | undefined;
};

/**
 * Takes the form in the act's own transaction, first of all: both are written or neither, so that a form whose act failed
 * can be sent again, and of many at once the others wait for the first and learn what became of it.
 */
export async function claimForm(tx: Transaction, scope: OrganizationScope, { formId }: ByForm): Promise<void> {
  if (formId === undefined) return;
  // Kept 24 hours, which no session outlives. Its space is shared with the API's, whose callers cannot guess an id.
  const claim = { key: `dashboard form ${formId}`, requestHash: createHash('sha256').update(formId).digest() };
  if ((await claimIdempotencyKey(tx, scope, claim)).kind !== 'claimed') throw new SentBeforeError();
}
