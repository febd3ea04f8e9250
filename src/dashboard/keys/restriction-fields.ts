import { MAX_ALLOWED_ADDRESSES } from '../../domain/address-list.ts';
import type { FieldErrors } from '../../domain/errors.ts';
import { formatNumber } from '../../domain/format.ts';
import { highestKeyLimit, limitsOf } from '../../domain/request-limits.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import { field } from '../markup/parts.ts';
import type { KeyContext } from './context.ts';

/** The values of the fields that say from where a key may be used, and how much. */
export type RestrictionValues = { readonly addresses: string; readonly requestsPerSecond: string };

export const RESTRICTION_LABELS = { addresses: 'Allowed addresses', requests_per_second: 'Requests per second' };

export const REQUIRED_ADDRESSES = 'Your organization requires them for each key that may write.';

export function addressesHint({ requiresAddresses }: KeyAccess['policy']): string {
  return requiresAddresses ? REQUIRED_ADDRESSES : 'If the field is empty, the key may be used from any address.';
}

type AddressesProps = {
  readonly hint?: string | Html;
  readonly value: string;
  readonly errors: FieldErrors | undefined;
};

export function addressesField({ hint = '', value, errors }: AddressesProps): Html {
  return field(
    {
      name: 'addresses',
      label: RESTRICTION_LABELS.addresses,
      hint: html`IP addresses or subnets, one on each line, such as 203.0.113.7 or 2001:db8:1::/48; at most ${MAX_ALLOWED_ADDRESSES}. Requests from other addresses are refused with 403. ${hint}`,
      errors,
    },
    (attributes) =>
      html`<textarea ${attributes} rows="5" spellcheck="false" autocomplete="off" autocapitalize="off">${value}</textarea>`,
  );
}

type LimitProps = {
  readonly limits: KeyAccess['limits'];
  readonly value: string;
  readonly errors: FieldErrors | undefined;
};

export function limitField({ dashboard }: KeyContext, { limits, value, errors }: LimitProps): Html {
  const highest = highestKeyLimit(limitsOf(limits, dashboard.requestLimits));
  return field(
    {
      name: 'requests_per_second',
      label: RESTRICTION_LABELS.requests_per_second,
      hint: `A limit of its own, 1 to ${formatNumber(highest)}. Leave it empty for the limit of your organization.`,
      errors,
    },
    (attributes) =>
      html`<input ${attributes} class="short" type="text" inputmode="numeric" value="${value}" maxlength="9" autocomplete="off">`,
  );
}

/** `null` for an empty text. Any other text that is no integer is NaN, which the service refuses. */
export function readLimit(text: string): number | null {
  const trimmed = text.trim().replaceAll(',', '');
  if (trimmed === '') return null;
  return /^\d{1,7}$/.test(trimmed) ? Number(trimmed) : Number.NaN;
}
