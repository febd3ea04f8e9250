import { SHOWN_PERIODS } from '../../domain/keys/key-usage.ts';
import { formatNumber } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import {
  exportOperationUse,
  exportOrganizationUse,
  getOrganizationUse,
  type OrganizationKey,
} from '../../service/keys/organization-keys.ts';
import type { CountedKeyUse, OrganizationUse } from '../../store/keys/key-uses.ts';
import type { KeyOperationUse } from '../../store/keys/operation-uses.ts';
import { type Form, fieldsOf, typedOf } from '../forms/form.ts';
import {
  fileUrlOf,
  type KeyUrls,
  keysUrlOf,
  OPERATION_USES_FILE_URL,
  ORGANIZATION_REQUESTS_URL,
  ORGANIZATION_USAGE_URL,
  refusedRequestsUrl,
  urlOf,
} from '../http/addresses.ts';
import { csvFile } from '../http/csv-file.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { keyCell } from '../keys/cells.ts';
import { keySearchField } from '../keys/search.ts';
import { usageSection } from '../keys/usage.ts';
import { page } from '../markup/layout.ts';
import { organizationHead } from '../markup/organization-head.ts';
import { hiddenInput } from '../markup/parts.ts';
import { table } from '../markup/table.ts';

export const USAGE_FILTERS = {
  key: keySearchField('API key', 'Name or prefix'),
};

/** Shows the numbers of requests with the organization's keys: with all keys, or with those that match the filter. */
export async function showOrganizationUsage(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken, now, query } = context;
  const values = typedOf(USAGE_FILTERS, query);
  const { mostUsed, ...use } = await getOrganizationUse(dashboard.db, actor, { now, ...values });
  const main = html`${organizationHead('usage', actor)}
<form class="card filters" method="post" action="${ORGANIZATION_USAGE_URL}" role="search" aria-label="Usage">${hiddenInput('form_token', formToken)}
<div class="filter-row">${fieldsOf(USAGE_FILTERS, { typed: values, problem: null }).key}
<div class="actions"><button class="button">Filter</button><a class="button plain" href="${ORGANIZATION_USAGE_URL}">Clear</a><a class="button" href="${urlOf(fileUrlOf(ORGANIZATION_USAGE_URL), values)}">${icon('download')}Export as CSV</a></div></div></form>
${usageSection({
  ...use,
  listUrl: (filter) => urlOf(ORGANIZATION_REQUESTS_URL, { ...filter, ...values }),
  fileUrl: urlOf(OPERATION_USES_FILE_URL, values),
  delaySeconds: dashboard.keyUses.delaySeconds(),
})}
${mostUsed.length > 0 && mostUsedSection(mostUsed)}`;
  return page(context, { title: 'Usage of the API keys', main });
}

/**
 * Redirects to the filtered page. The filter is sent by POST, because people may paste a whole API key, which must not get into a
 * URL. In `values`, the key has already been replaced with its prefix.
 */
export async function filterOrganizationUsage(
  _context: SignedInContext,
  { values }: Form<typeof USAGE_FILTERS>,
): Promise<View> {
  return redirect(urlOf(ORGANIZATION_USAGE_URL, values));
}

export async function downloadOrganizationUsage(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now, query } = context;
  const pages = exportOrganizationUse(dashboard.db, actor, { now, ...typedOf(USAGE_FILTERS, query) });
  return csvFile(context, { name: 'charter-usage', columns: COLUMNS, pages });
}

export async function downloadOperationUses(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now, query } = context;
  const pages = exportOperationUse(dashboard.db, actor, { now, ...typedOf(USAGE_FILTERS, query) });
  return csvFile(context, { name: 'charter-operations', columns: OPERATION_COLUMNS, pages });
}

type CountedUse = Pick<KeyOperationUse, keyof KeyOperationUse & keyof CountedKeyUse>;

const KEY_COLUMNS = {
  starts_at: ({ startsAt }) => startsAt.toISOString(),
  key_id: ({ keyId }) => keyId,
  key_name: ({ keyName }) => keyName,
  key_prefix: ({ keyPrefix }) => keyPrefix,
} satisfies Columns<CountedUse>;

const COUNT_COLUMNS = {
  successful: ({ successful }) => String(successful),
  refused: ({ refused }) => String(refused),
  failed: ({ failed }) => String(failed),
} satisfies Columns<CountedUse>;

const OPERATION_COLUMNS: Columns<KeyOperationUse> = {
  ...KEY_COLUMNS,
  operation: ({ operation }) => operation,
  ...COUNT_COLUMNS,
};

const COLUMNS: Columns<CountedKeyUse> = {
  period: ({ period }) => period,
  ...KEY_COLUMNS,
  ...COUNT_COLUMNS,
  refused_by_limit: ({ limited }) => String(limited),
};

type Columns<Use> = Readonly<Record<string, (use: Use) => string>>;

function mostUsedSection(keys: OrganizationUse['mostUsed']): Html {
  return html`<section aria-labelledby="most-used"><h2 id="most-used">Most used API keys</h2>
<p class="quiet">By their requests in the last ${SHOWN_PERIODS.day} days.</p>
<div class="card flush">${table({
    name: 'most-used',
    label: 'Most used API keys',
    columns: ['Key', 'Acts for', 'Successful', 'Refused', 'Failed'],
    rows: keys.map((key) => ({
      cells: [
        keyCell(key, urlsOf(key)),
        html`<a class="clamp" href="${keysUrlOf(key.holder)}">${key.holder.name}</a>`,
        formatNumber(key.successful),
        key.refused === 0
          ? 0
          : html`<a href="${refusedRequestsUrl(key, urlsOf(key))}">${formatNumber(key.refused)}</a>`,
        formatNumber(key.failed),
      ],
    })),
  })}</div></section>`;
}

function urlsOf({ holder }: Pick<OrganizationKey, 'holder'>): KeyUrls {
  return { listUrl: keysUrlOf(holder), back: null };
}
