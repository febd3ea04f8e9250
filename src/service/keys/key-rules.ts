import { DomainError } from '../../domain/errors.ts';
import { type AddressList, parseAddressList } from '../../domain/keys/address-list.ts';
import { type ApiKey, endOf, type Holder, holderText, MAX_LIFE_DAYS } from '../../domain/keys/api-key.ts';
import {
  highestKeyLimit,
  limitsOf,
  type OrganizationLimits,
  type RequestLimits,
} from '../../domain/keys/request-limits.ts';
import { nameKeyOf } from '../../domain/name.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { type KeyPolicy, mayWrite } from '../../domain/people/role.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { DAY_MS, formatInstant } from '../../domain/time.ts';
import { findActiveSuccessor, findKeyHistory } from '../../store/keys/api-keys.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { type Conflict, catchInvalid, conflict, type Invalid, invalid, type NameTaken } from '../outcome.ts';

/**
 * The number of days until a new key expires, and the form field in which it was entered. `lifeDays` is `null` if the key never
 * expires.
 */
export type Life = { readonly field: 'expiry' | 'expiry_date'; readonly lifeDays: number | null };

/** Returns the number of days from `now` to an expiry, rounded up; `null` if there is no expiry. */
export function lifeUntil(expiresAt: Date | null, now: Date): number | null {
  return expiresAt === null ? null : Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS);
}

/** Returns a refusal if no organization may have a key that lives this long. */
export function checkLife({ field, lifeDays }: Life): Invalid | null {
  if (field === 'expiry_date' && Number.isNaN(lifeDays)) return invalid(field, 'must be a day such as 2026-01-31.');
  if (field === 'expiry_date' && lifeDays !== null && lifeDays < 1) return invalid(field, 'must not be in the past.');
  if (lifeDays !== null && !(Number.isInteger(lifeDays) && lifeDays >= 1 && lifeDays <= MAX_LIFE_DAYS))
    return invalid(
      field,
      field === 'expiry'
        ? `must be an integer from 1 to ${MAX_LIFE_DAYS} days.`
        : `must be at most ${MAX_LIFE_DAYS} days ahead.`,
    );
  return null;
}

/** Returns a refusal if the organization's policy does not allow a key that lives this long. */
export function checkLifePolicy({ field, lifeDays }: Life, policy: KeyPolicy): Invalid | null {
  const { maxKeyLifeDays, allowsUnendingKeys } = policy;
  if (lifeDays === null && !allowsUnendingKeys)
    return invalid(field, 'must be set: your organization does not allow keys that never expire.');
  if (lifeDays !== null && lifeDays > maxKeyLifeDays)
    return invalid(
      field,
      `must be at most ${formatCount(maxKeyLifeDays, 'day')}${field === 'expiry' ? '' : ' ahead'}, the longest that your organization allows.`,
    );
  return null;
}

/** The addresses from which a key may be used, and its rate limit. */
export type Restrictions = Pick<ApiKey, 'addresses' | 'requestsPerSecond'>;

/** Restrictions as they were typed into a form. */
export type RestrictionRequest = {
  /** IP addresses and subnets, separated by line breaks, spaces or commas. */
  readonly addresses: string;
  /** An integer from 1 to the organization's limit; `null` if the key has the organization's limit. */
  readonly requestsPerSecond: number | null;
  /** The default limits of the installation. */
  readonly requestLimits: RequestLimits;
};

/** Returns the addresses separated by spaces, as the database stores them, or "anywhere" if the list is empty. */
export function addressWords(addresses: AddressList): string {
  return addresses.length === 0 ? 'anywhere' : addresses.join(' ');
}

export function limitWords(requestsPerSecond: number | null): string {
  return requestsPerSecond === null ? 'that of the organization' : formatNumber(requestsPerSecond);
}

export function parseAddresses(text: string): { readonly kind: 'valid'; readonly value: AddressList } | Invalid {
  return catchInvalid(() => parseAddressList(text, 'addresses'));
}

/**
 * Returns a refusal if a key cannot have this rate limit. `own` are the limits that the operator has set for the organization.
 */
export function checkLimit(
  { requestsPerSecond, requestLimits }: RestrictionRequest,
  own: OrganizationLimits,
): Invalid | null {
  if (requestsPerSecond === null) return null;
  const highest = highestKeyLimit(limitsOf(own, requestLimits));
  if (Number.isInteger(requestsPerSecond) && requestsPerSecond >= 1 && requestsPerSecond <= highest) return null;
  return invalid(
    'requests_per_second',
    `must be an integer from 1 to ${formatNumber(highest)}, or empty for the limit of your organization.`,
  );
}

/**
 * Returns a refusal if the organization's policy requires allowed addresses for a key with these permissions, and the key has
 * none.
 */
export function checkAddresses(
  { permissions, addresses }: Pick<ApiKey, 'permissions' | 'addresses'>,
  { requiresAddresses }: Pick<KeyPolicy, 'requiresAddresses'>,
): Invalid | null {
  if (!requiresAddresses || addresses.length > 0 || !mayWrite(permissions)) return null;
  return invalid(
    'addresses',
    'must have at least one entry: your organization requires a list for each key that may write.',
  );
}

/** Returns a conflict that says who ended the key, when, and what to do now. Throws "not_found" if there is no such key. */
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
 * Returns a refusal if the name has the same normal form as the name of one of the other keys, because people recognize the key
 * that they revoke by its name.
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

/** Returns the same error for a key that does not exist, a key of another user and a key of another organization. */
export function noSuchKey(): DomainError {
  return new DomainError('not_found', 'There is no such API key.');
}
