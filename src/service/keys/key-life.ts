import { DAY_MS } from '../../domain/duration.ts';
import { formatCount } from '../../domain/format.ts';
import { MAX_LIFE_DAYS } from '../../domain/keys/api-key.ts';
import type { KeyPolicy } from '../../domain/people/role.ts';
import { type Invalid, invalid } from '../outcome.ts';

/** The life of a new key in days, and the form's field that it comes from. `lifeDays` is `null` if the key does not expire. */
export type Life = { readonly field: 'expiry' | 'expiry_date'; readonly lifeDays: number | null };

/** The life from `now` to an expiry, in days, rounded up. */
export function lifeUntil(expiresAt: Date | null, now: Date): number | null {
  return expiresAt === null ? null : Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS);
}

/** Returns `null` if an organization can allow this life. */
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

/** Returns `null` if the organization's policy allows this life. */
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
