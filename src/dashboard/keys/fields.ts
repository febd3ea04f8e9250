import { MAX_ALLOWED_ADDRESSES, networksOutside } from '../../domain/keys/address-list.ts';
import { DEFAULT_LIFE_DAYS, expiryOf } from '../../domain/keys/api-key.ts';
import { isUsedLately, type UsedNetwork } from '../../domain/keys/key-usage.ts';
import { highestKeyLimit, limitsOf } from '../../domain/keys/request-limits.ts';
import type { KeyPolicy } from '../../domain/people/role.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { formatDay } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import { parseAddresses } from '../../service/keys/key-rules.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { findRestrictedKey } from '../../store/keys/api-keys.ts';
import { extraValue, lines, type Option, text, withParser } from '../forms/fields.ts';
import { doneNotice } from '../markup/parts.ts';
import type { KeyContext } from './context.ts';

// The fields of the forms for keys.

const LIVES_DAYS = [7, 30, 90, 180, 365, 730];
const NEVER: Option = { value: 'never', words: 'Never expires' };
/** The option "on a day". The day is another field, which the style sheet shows only while this option is selected. */
export const ON_A_DAY: Option = { value: 'day', words: 'On a day of your choice' };

/**
 * Returns the options for the expiry: the lifetimes that the organization allows, then `others`, then "never" if it is allowed.
 */
export function lifeOptions(
  { maxKeyLifeDays, allowsUnendingKeys }: KeyPolicy,
  now: Date,
  others: readonly Option[] = [],
): Option[] {
  const lives = [...new Set([...LIVES_DAYS.filter((days) => days < maxKeyLifeDays), maxKeyLifeDays])];
  const options = lives.map((days) => {
    const until = expiryOf(now, days);
    const words = `${formatCount(days, 'day')}${until === null ? '' : `, until ${formatDay(until)}`}`;
    return { value: String(days), words };
  });
  return [...options, ...others, ...(allowsUnendingKeys ? [NEVER] : [])];
}

export function defaultLife({ maxKeyLifeDays }: KeyPolicy): string {
  return String(Math.min(DEFAULT_LIFE_DAYS, maxKeyLifeDays));
}

export const LIFE_LABEL = 'Expiry';

/** Returns the number of days; `null` for "never"; `NaN` if the text is neither, which the service refuses. */
export function parseLifeDays(text: string): number | null {
  if (text === NEVER.value) return null;
  return /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
}

const REQUIRED_ADDRESSES = 'Your organization requires them for each key that may write.';

type AddressesProps = { readonly access: Pick<KeyAccess, 'policy'>; readonly context: KeyContext };

export const addressesField = lines({
  label: 'Allowed addresses',
  hint: ({ access: { policy }, context: { auditSource } }: AddressesProps) =>
    html`IP addresses or subnets, one on each line, such as 203.0.113.7 or 2001:db8:1::/48; at most ${MAX_ALLOWED_ADDRESSES}. Requests from other addresses are refused with 403. ${policy.requiresAddresses ? REQUIRED_ADDRESSES : 'If the field is empty, the key may be used from any address.'} Your own address is <code>${auditSource.ip}</code> at present.`,
  attributes: html`rows="5" spellcheck="false" autocomplete="off" autocapitalize="off"`,
});

type LimitProps = { readonly access: Pick<KeyAccess, 'limits'>; readonly context: KeyContext };

export const limitField = withParser(
  text({
    label: 'Requests per second',
    hint: ({ access: { limits }, context: { dashboard } }: LimitProps) =>
      `A limit of its own, 1 to ${formatNumber(highestKeyLimit(limitsOf(limits, dashboard.requestLimits)))}. Leave it empty for the limit of your organization.`,
    attributes: html`class="short" inputmode="numeric" maxlength="9" autocomplete="off"`,
  }),
  parseLimit,
);

/** Returns the limit; `null` if the text is empty; `NaN` if the text is not an integer, which the service refuses. */
function parseLimit(text: string): number | null {
  const trimmed = text.trim().replaceAll(',', '');
  if (trimmed === '') return null;
  return /^\d{1,7}$/.test(trimmed) ? Number(trimmed) : Number.NaN;
}

/**
 * The button that adds the addresses from which the key was used to the field for the allowed addresses. The button does not save
 * the form.
 */
export const addUsedButton = extraValue();

export type UsedAddresses = {
  /** The new value of the field for the allowed addresses. */
  readonly addresses: string;
  /** A notice that lists the added addresses; `false` if the button was not pressed. */
  readonly notice: Html | false;
  /**
   * The list of used addresses, with the button. The section must be the last in the form, because the Enter key presses the
   * form's first button.
   */
  readonly section: Html;
};

/**
 * Returns the addresses from which the key was used, for a form with the field for the allowed addresses. `addsUsed` is true if
 * the person pressed the button that adds them.
 */
export async function usedAddresses(
  context: KeyContext,
  key: KeyDetails,
  { text, addsUsed }: { readonly text: string; readonly addsUsed: boolean },
): Promise<UsedAddresses> {
  const { dashboard, actor, holderId } = context;
  const found = await findRestrictedKey(dashboard.db.prisma, actor.scope, { id: key.id, userId: holderId });
  const used = found?.usedNetworks ?? [];
  const section = usedSection(context, used);
  if (!addsUsed) return { addresses: text, notice: false, section };
  const missing = missingIn(text, used);
  const addresses = [text.trimEnd(), ...missing].filter((line) => line !== '').join('\n');
  return { addresses, notice: doneNotice(addedWords(missing)), section };
}

function missingIn(text: string, used: readonly UsedNetwork[]): readonly string[] {
  const list = parseAddresses(text);
  const networks = used.map(({ network }) => network);
  return list.kind === 'valid' && list.value.length > 0 ? networksOutside(list.value, networks) : networks;
}

function addedWords(added: readonly string[]): string {
  if (added.length === 0) return 'The list contains these addresses already.';
  return `Added: ${added.join(', ')}. Not saved yet.`;
}

function usedSection({ now }: KeyContext, used: readonly UsedNetwork[]): Html {
  if (used.length === 0) return html`<p class="quiet">No address is recorded from which the key was used.</p>`;
  return html`<section aria-labelledby="used"><h3 id="used">Used from</h3>
<ul class="networks">${used.map(
    (each) => html`<li><code>${each.network}</code> <span class="quiet">${dayWords(each, now)}</span></li>`,
  )}</ul>
<p class="hint">The last addresses, and of IPv6 the networks. The latest uses may be missing for some seconds.</p>
<div class="actions"><button class="button" name="take" value="used">Add these addresses</button></div></section>`;
}

function dayWords(used: UsedNetwork, now: Date): string {
  const today = now.toISOString().slice(0, used.day.length);
  if (used.day === today) return 'today';
  if (isUsedLately(used, now)) return 'yesterday';
  return formatDay(new Date(`${used.day}T00:00:00Z`));
}
