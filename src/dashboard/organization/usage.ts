import { formatNumber } from '../../domain/format.ts';
import { OUTCOMES, SHOWN_PERIODS } from '../../domain/key-usage.ts';
import { type Html, html } from '../../html/html.ts';
import { getOrganizationUse } from '../../service/keys/organization-keys.ts';
import type { OrganizationUse } from '../../store/keys/key-uses.ts';
import { keysUrlOf } from '../addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { keyCell } from '../keys/cells.ts';
import { usageSection } from '../keys/usage.ts';
import { page } from '../markup/layout.ts';
import { table } from '../markup/table.ts';
import { organizationHead } from './head.ts';

/** The requests with all keys of the organization, for those who may see the keys of others. */
export async function showOrganizationUsage(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now } = context;
  const { usage, mostUsed } = await getOrganizationUse(dashboard.db, actor, now);
  const main = html`${organizationHead('usage', actor)}
${usageSection(usage)}
${mostUsed.length > 0 && mostUsedSection(mostUsed)}`;
  return page(context, { title: 'Usage of the API keys', main });
}

function mostUsedSection(keys: OrganizationUse['mostUsed']): Html {
  return html`<section aria-labelledby="most-used"><h2 id="most-used">Most used API keys</h2>
<p class="quiet">By their requests in the last ${SHOWN_PERIODS.day} days.</p>
<div class="card flush">${table({
    name: 'most-used',
    label: 'Most used API keys',
    columns: ['Key', 'Acts for', 'Successful', 'Refused', 'Failed'],
    rows: keys.map((key) => ({
      cells: [
        keyCell(key, { listUrl: keysUrlOf(key.holder), back: null }),
        html`<a class="clamp" href="${keysUrlOf(key.holder)}">${key.holder.name}</a>`,
        ...OUTCOMES.map((outcome) => formatNumber(key[outcome])),
      ],
    })),
  })}</div></section>`;
}
