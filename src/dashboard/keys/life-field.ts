import { DEFAULT_LIFE_DAYS, expiryOf } from '../../domain/api-key.ts';
import type { FieldErrors } from '../../domain/errors.ts';
import { formatCount, formatDay } from '../../domain/format.ts';
import type { KeyPolicy } from '../../domain/role.ts';
import { type Html, html } from '../../html/html.ts';
import { field } from '../markup/parts.ts';

type LifeOption = { readonly value: string; readonly words: string };

const LIVES_DAYS = [7, 30, 90, 180, 365, 730];
const NEVER: LifeOption = { value: 'never', words: 'Never expires' };
/** Another field has the day; the style sheet shows it only for this choice. */
export const ON_A_DAY: LifeOption = { value: 'day', words: 'On a day of your choice' };

/** The lives that the organization allows, and `others` before "never". */
export function lifeOptions(
  { maxKeyLifeDays, allowsUnendingKeys }: KeyPolicy,
  now: Date,
  others: readonly LifeOption[] = [],
): LifeOption[] {
  const lives = [...new Set([...LIVES_DAYS.filter((days) => days < maxKeyLifeDays), maxKeyLifeDays])];
  const options = lives.map((days) => {
    const until = expiryOf(now, days);
    const words = `${formatCount(days, 'day')}${until === null ? '' : `, until ${formatDay(until)}`}`;
    return { value: String(days), words };
  });
  return [...options, ...others, ...(allowsUnendingKeys ? [NEVER] : [])];
}

/** The value of the option that is selected by default. */
export function defaultLife({ maxKeyLifeDays }: KeyPolicy): string {
  return String(Math.min(DEFAULT_LIFE_DAYS, maxKeyLifeDays));
}

type LifeFieldProps = {
  readonly hint: string;
  readonly errors: FieldErrors | undefined;
  readonly options: readonly LifeOption[];
  readonly chosen: string;
};

export function lifeField({ hint, errors, options, chosen }: LifeFieldProps): Html {
  return field(
    { name: 'expiry', label: LIFE_LABEL, hint, errors },
    (attributes) =>
      html`<select ${attributes}>${options.map(
        ({ value, words }) => html`<option value="${value}"${chosen === value && html` selected`}>${words}</option>`,
      )}</select>`,
  );
}

export const LIFE_LABEL = 'Expiry';

/** The number of days, or null for "never". Anything else is NaN, which the service refuses. */
export function readLifeDays(text: string): number | null {
  if (text === NEVER.value) return null;
  return /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
}
