import { networksOutside } from '../../domain/address-list.ts';
import { formatDay } from '../../domain/format.ts';
import { isUsedLately, type UsedNetwork } from '../../domain/key-usage.ts';
import { type Html, html } from '../../html/html.ts';
import { readAddresses } from '../../service/keys/key-restrictions.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { findRestrictedKey } from '../../store/keys/key-restrictions.ts';
import { doneNotice } from '../markup/parts.ts';
import type { KeyContext } from './context.ts';

/** The name of the button that adds them to the list of a form, and saves nothing. */
export const TAKE = 'take';

export type UsedAddresses = {
  /** The value of the field. */
  readonly addresses: string;
  /** What was added. */
  readonly notice: Html | false;
  /** Its button comes last in the form, because the Enter key presses the first one. */
  readonly section: Html;
};

/** For a form with a list of allowed addresses: those from which the key was used. `isTaken`: the button was pressed. */
export async function usedAddresses(
  context: KeyContext,
  key: KeyDetails,
  { text, isTaken }: { readonly text: string; readonly isTaken: boolean },
): Promise<UsedAddresses> {
  const { dashboard, actor, holderId } = context;
  const found = await findRestrictedKey(dashboard.db.prisma, actor.scope, { id: key.id, userId: holderId });
  const used = found?.usedNetworks ?? [];
  const section = usedSection(context, used);
  if (!isTaken) return { addresses: text, notice: false, section };
  const missing = missingIn(text, used);
  const addresses = [text.trimEnd(), ...missing].filter((line) => line !== '').join('\n');
  return { addresses, notice: doneNotice(addedWords(missing)), section };
}

function missingIn(text: string, used: readonly UsedNetwork[]): readonly string[] {
  const list = readAddresses(text);
  const networks = used.map(({ network }) => network);
  return list.kind === 'valid' && list.value.length > 0 ? networksOutside(list.value, networks) : networks;
}

function addedWords(added: readonly string[]): string {
  if (added.length === 0) return 'The list contains these addresses already.';
  return `Added: ${added.join(', ')}. Not saved yet.`;
}

function usedSection({ now }: KeyContext, used: readonly UsedNetwork[]): Html {
  if (used.length === 0)
    return html`<p class="quiet">No address is recorded from which the key was used. Uses are recorded once a minute.</p>`;
  return html`<section aria-labelledby="used"><h3 id="used">Used from</h3>
<ul class="networks">${used.map(
    (each) => html`<li><code>${each.network}</code> <span class="quiet">${dayWords(each, now)}</span></li>`,
  )}</ul>
<p class="hint">The last addresses, and of IPv6 the networks. Uses are recorded once a minute.</p>
<div class="actions"><button class="button" name="${TAKE}" value="used">Add these addresses</button></div></section>`;
}

function dayWords(used: UsedNetwork, now: Date): string {
  const today = now.toISOString().slice(0, used.day.length);
  if (used.day === today) return 'today';
  if (isUsedLately(used, now)) return 'yesterday';
  return formatDay(new Date(`${used.day}T00:00:00Z`));
}
