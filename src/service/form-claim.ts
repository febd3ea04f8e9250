import { createHash } from 'node:crypto';
import type { OrganizationScope } from '../domain/organizations/organization-scope.ts';
import { claimIdempotencyKey } from '../store/resources/idempotency-keys.ts';
import type { Transaction } from '../store/sql/database.ts';

/** The form of an action whose result is shown once, such as a new key. */
export type OneTimeForm = {
  /** Random, made by the dashboard; `undefined` if the action does not come from a form. It can be repeated then. */
  readonly formId?: string | undefined;
};

/**
 * Claims the form for this transaction; `false` if it was claimed before and its action done. Claim first: of several
 * requests with one form, the others then wait for the first. A rollback gives the claim back.
 */
export async function claimForm(tx: Transaction, scope: OrganizationScope, { formId }: OneTimeForm): Promise<boolean> {
  if (formId === undefined) return true;
  // Kept for 24 hours, longer than any session lasts. The API's idempotency keys share the table, but cannot name a form.
  const claim = { key: `dashboard form ${formId}`, requestHash: createHash('sha256').update(formId).digest() };
  return (await claimIdempotencyKey(tx, scope, claim)).kind === 'claimed';
}
