import { endOf } from '../domain/api-key.ts';
import { DomainError } from '../domain/errors.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import { instantWords } from '../domain/words.ts';
import type { Transaction } from '../store/database.ts';
import { findKeyHistory, findLiveSuccessor } from '../store/key-history.ts';

/** Why a key that was to be rotated, renamed or revoked could not be: there is none, or somebody has ended it before. */
export async function explainRefusal(
  tx: Transaction,
  scope: OrganizationScope,
  { id, userId, now }: { id: string; userId: string; now: Date },
): Promise<DomainError> {
  const key = await findKeyHistory(tx, scope, { id, userId });
  if (key === null) return noSuchKey();
  const end = endOf(key, now);
  if (end === null) return new DomainError('conflict', 'The key has just changed. Try again.');
  const name = JSON.stringify(key.name);
  if (end.kind === 'expired')
    return new DomainError('conflict', `The key ${name} expired on ${instantWords(end.at)}. Create a new key instead.`);
  const who = (end.kind === 'rotated' ? key.rotatedBy : key.revokedBy)?.name ?? 'an operator';
  const what = `The key ${name} was ${end.kind} by ${who} on ${instantWords(end.at)}.`;
  if (end.kind === 'revoked') return new DomainError('conflict', `${what} If one is needed, create a new key.`);
  const successor = await findLiveSuccessor(tx, scope, { id, now });
  const since =
    successor === null
      ? 'The key that replaced it has ended as well.'
      : `The key that replaced it, ${JSON.stringify(successor.name)} (${successor.prefix}…), is active: revoke that one to end its use.`;
  return new DomainError('conflict', `${what} ${since}`);
}

/** The same for one that does not exist, one of another user and one of another organization. */
export function noSuchKey(): DomainError {
  return new DomainError('not_found', 'There is no such API key.');
}
