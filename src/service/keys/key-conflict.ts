import { DomainError } from '../../domain/errors.ts';
import { formatInstant } from '../../domain/format.ts';
import { endOf } from '../../domain/keys/api-key.ts';
import { type Holder, holderText } from '../../domain/keys/holder.ts';
import { nameKeyOf } from '../../domain/name.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { findActiveSuccessor, findKeyHistory } from '../../store/keys/api-keys.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { type Conflict, conflict, type NameTaken } from '../outcome.ts';

/**
 * Says why an action on a key came too late: who ended the key, when, and what to do now. Throws "not_found" if there is no such
 * key.
 */
export async function explainEndedKey(
  tx: Transaction,
  scope: OrganizationScope,
  { id, userId, now }: { id: string; userId: string; now: Date },
): Promise<Conflict> {
  const key = await findKeyHistory(tx, scope, { id, userId });
  if (key === null) throw noSuchKey();
  const end = endOf(key, now);
  if (end === null) return conflict('The key has just changed. Try again.');
  const name = JSON.stringify(key.name);
  if (end.kind === 'expired')
    return conflict(`The key ${name} expired on ${formatInstant(end.at)}. Create a new key instead.`);
  const who = (end.kind === 'rotated' ? key.rotatedBy : key.revokedBy)?.name ?? 'an operator';
  const why = key.isLeaked
    ? 'because it was reported as leaked,'
    : key.isUnused
      ? 'because it was not used,'
      : `by ${who}`;
  const what = `The key ${name} was ${end.kind} ${why} on ${formatInstant(end.at)}.`;
  if (end.kind === 'revoked') return conflict(`${what} If you still need a key, create a new one.`);
  const successor = await findActiveSuccessor(tx, scope, { id, now });
  const since =
    successor === null
      ? 'The key that replaced it has ended too.'
      : `The key that replaced it, ${JSON.stringify(successor.name)} (${successor.prefix}…), is active: revoke that one to end its use.`;
  return conflict(`${what} ${since}`);
}

/**
 * Refuses a name whose normalized form another key has; `null` if there is none. People choose the key to revoke by its name.
 */
export function checkNameFree(
  holder: Pick<Holder, 'name' | 'email'>,
  { name, others }: { name: string; others: readonly { readonly name: string }[] },
): NameTaken | null {
  const nameKey = nameKeyOf(name);
  const taken = others.find((key) => nameKeyOf(key.name).equals(nameKey));
  if (taken === undefined) return null;
  return {
    kind: 'name-taken',
    message: `${holderText(holder)} has a key named ${JSON.stringify(taken.name)} already. Choose another name, or revoke that key first.`,
  };
}

/** The same error for a key that does not exist, one of another user and one of another organization. */
export function noSuchKey(): DomainError {
  return new DomainError('not_found', 'There is no such API key.');
}
