import { formatNumber } from '../../domain/format.ts';
import { type AddressList, parseAddressList } from '../../domain/keys/address-list.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import {
  highestKeyLimit,
  limitsOf,
  type OrganizationLimits,
  type RequestLimits,
} from '../../domain/keys/request-limits.ts';
import { type KeyPolicy, mayWrite } from '../../domain/people/role.ts';
import { catchInvalid, type Invalid, invalid } from '../outcome.ts';

/** From where a key may be used, and how much. */
export type Restrictions = Pick<ApiKey, 'addresses' | 'requestsPerSecond'>;

/** Restrictions as a form has them. */
export type RestrictionRequest = {
  /** Addresses and subnets, separated by lines, blanks or commas. */
  readonly addresses: string;
  /** An integer from 1 to the limit of the organization; `null` for that limit. */
  readonly requestsPerSecond: number | null;
  /** The limits of the installation. */
  readonly requestLimits: RequestLimits;
};

export const NO_RESTRICTIONS: Restrictions = { addresses: [], requestsPerSecond: null };

/** In the form of a list in the database, with blanks between the entries; "anywhere" if the list is empty. */
export function addressWords(addresses: AddressList): string {
  return addresses.length === 0 ? 'anywhere' : addresses.join(' ');
}

export function limitWords(requestsPerSecond: number | null): string {
  return requestsPerSecond === null ? 'that of the organization' : formatNumber(requestsPerSecond);
}

export function readAddresses(text: string): { readonly kind: 'valid'; readonly value: AddressList } | Invalid {
  return catchInvalid(() => parseAddressList(text, 'addresses'));
}

/** Returns `null` if a key of the organization may have this limit. `own`: what the operator has set for the organization. */
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

/** Returns `null` if the organization's policy allows a key with these permissions to have this list. */
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
