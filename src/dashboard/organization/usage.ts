import { firstShown, SHOWN_PERIODS } from '../../domain/keys/key-usage.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { DAY_MS, formatDay } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import {
  exportOperationUse,
  exportOrganizationUse,
  type FilteredUse,
  getOrganizationUse,
  type OrganizationKey,
  type UseFilters,
  type UseRequest,
} from '../../service/keys/organization-keys.ts';
import type { CountedKeyUse, OrganizationUse } from '../../store/keys/key-uses.ts';
import type { KeyOperationUse } from '../../store/keys/operation-uses.ts';
import { DAYS, parseSpan, text, withNormalForm } from '../forms/fields.ts';
import { type Form, fieldsOf, isFiltered, problemSummary, type Typed, typedOf } from '../forms/form.ts';
import {
  fileUrlOf,
  type KeyUrls,
  keysUrlOf,
  OPERATION_USES_FILE_URL,
  ORGANIZATION_REQUESTS_URL,
  ORGANIZATION_USAGE_URL,
  requestsUrl,
  urlOf,
} from '../http/addresses.ts';
import { type CsvFile, csvFile } from '../http/csv-file.ts';
import { type Problem, problemOfFields } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { keyCell } from '../keys/cells.ts';
import { operationField } from '../keys/requests.ts';
import { cutToPrefix, keySearchField } from '../keys/search.ts';
import { usageSection } from '../keys/usage.ts';
import { uncapitalize } from '../markup/chart.ts';
import { page } from '../markup/layout.ts';
import { organizationHead } from '../markup/organization-head.ts';
import { filterFold, hiddenInput } from '../markup/parts.ts';
import { table } from '../markup/table.ts';

/** The fields of the filters. An empty value filters nothing. `from` and `to` are days in UTC such as "2026-01-31", both included. */
export const USAGE_FILTERS = {
  key: keySearchField('API key', 'Name or prefix'),
  operation: operationField(),
  from: withNormalForm(text({ label: 'From, UTC', type: 'date' }), cutToPrefix),
  to: withNormalForm(text({ label: 'To, UTC', type: 'date' }), cutToPrefix),
};

type FilterValues = Typed<typeof USAGE_FILTERS>;

/** Shows the numbers of requests with the organization's keys: all of them, or those that match the filters. */
export async function showOrganizationUsage(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now, query } = context;
  const values = typedOf(USAGE_FILTERS, query);
  const { filters, problem } = readFilters(values, now);
  const use = await getOrganizationUse(dashboard.db, actor, { now, ...filters });
  // If the filters are refused, the page shows no numbers, because people would think that the numbers match the filters.
  const main = html`${organizationHead('usage', actor)}
${problemSummary(problem, USAGE_FILTERS)}
${filterForm(context, { values, problem, operations: use.byOperation.map(({ operation }) => operation) })}
${problem === null && numbers(context, { values, filters, use })}`;
  return page(context, { title: 'Usage of the API keys', main, problem });
}

type Shown = { readonly values: FilterValues; readonly filters: UseFilters; readonly use: FilteredUse };

/** Returns the charts and tables of the requests that match the filters. */
function numbers({ dashboard, now }: SignedInContext, { values, filters, use }: Shown): Html {
  const { operation, from, to, key } = values;
  const days = shownDays(use.usage.day, now);
  // The lists of requests are filtered by minutes.
  const minutes = { from: from && `${from}T00:00`, to: to && `${to}T23:59` };
  return html`${usageSection({
    usage: use.usage,
    days,
    byOperation: use.byOperation.filter((each) => [null, each.operation].includes(filters.operation)),
    listUrl: (filter) => urlOf(ORGANIZATION_REQUESTS_URL, { operation, ...filter, key, ...minutes }),
    files: [
      ...(operation === '' ? [{ words: 'Export as CSV', url: urlOf(fileUrlOf(ORGANIZATION_USAGE_URL), values) }] : []),
      { words: 'Export the operations as CSV', url: urlOf(OPERATION_USES_FILE_URL, values) },
    ],
    delaySeconds: dashboard.keyUses.delaySeconds(),
  })}
${
  use.mostUsed.length > 0 &&
  mostUsedSection(use.mostUsed, {
    days: days.title,
    refusedUrl: (each) =>
      urlOf(requestsUrl(urlsOf(each).listUrl, each.id), { operation, status: 'refused', ...minutes }),
  })
}`;
}

type FilterProps = {
  readonly values: FilterValues;
  readonly problem: Problem | null;
  readonly operations: readonly string[];
};

function filterForm({ formToken }: SignedInContext, { values, problem, operations }: FilterProps): Html {
  const fields = fieldsOf(USAGE_FILTERS, { typed: values, problem }, { operations, chosen: values.operation });
  return html`<form class="card filters" method="post" action="${ORGANIZATION_USAGE_URL}" role="search" aria-label="Usage">${hiddenInput('form_token', formToken)}
${filterFold(
  { isOpen: isFiltered(values) },
  html`${Object.values(fields)}
<div class="actions"><button class="button">Filter</button><a class="button plain" href="${ORGANIZATION_USAGE_URL}">Clear</a></div>`,
)}</form>`;
}

/**
 * Returns the filters of the query, and a problem with a message for each wrong value; `problem` is `null` if all values are
 * valid.
 */
function readFilters({ key, operation, from, to }: FilterValues, now: Date) {
  const { span, errors } = parseSpan({ from, to }, DAYS);
  if (span.from !== null && span.from > now) errors['from'] = ['must not be in the future.'];
  const oldest = firstShown('day', now);
  if (span.to !== null && span.to <= oldest)
    errors['to'] = [
      `must not be before ${formatDay(oldest)}. Requests are counted for ${formatCount(SHOWN_PERIODS.day, 'day')}.`,
    ];
  const filters: UseFilters = { key, operation: operation === '' ? null : operation, ...span };
  return { filters, problem: problemOfFields(errors) };
}

/** Returns the title of the days that were counted, and whether the last of these days has ended. `uses` is not empty. */
function shownDays(uses: FilteredUse['usage']['day'], now: Date): { title: string; isPast: boolean } {
  const starts = uses.map(({ startsAt }) => startsAt);
  const isPast = starts.every((startsAt) => now.getTime() >= startsAt.getTime() + DAY_MS);
  if (!isPast) return { title: uses.length === 1 ? 'Today' : `Last ${uses.length} days`, isPast };
  const [first, ...later] = starts.map(formatDay);
  return { title: later.length === 0 ? `${first}` : `${first} to ${later.at(-1)}`, isPast };
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
  const { actor, dashboard } = context;
  return download(context, (request) => ({
    name: 'charter-usage',
    columns: COLUMNS,
    pages: exportOrganizationUse(dashboard.db, actor, request),
  }));
}

export async function downloadOperationUses(context: SignedInContext): Promise<View> {
  const { actor, dashboard } = context;
  return download(context, (request) => ({
    name: 'charter-operations',
    columns: OPERATION_COLUMNS,
    pages: exportOperationUse(dashboard.db, actor, request),
  }));
}

/** Sends the file, or redirects to the page with the messages if the filters are refused. */
async function download<Row>(context: SignedInContext, fileOf: (request: UseRequest) => CsvFile<Row>): Promise<View> {
  const { now, query } = context;
  const values = typedOf(USAGE_FILTERS, query);
  const { filters, problem } = readFilters(values, now);
  return problem === null
    ? csvFile(context, fileOf({ now, ...filters }))
    : redirect(urlOf(ORGANIZATION_USAGE_URL, values));
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

type MostUsed = OrganizationUse['mostUsed'];
type MostUsedProps = { readonly days: string; readonly refusedUrl: (key: MostUsed[number]) => string };

function mostUsedSection(keys: MostUsed, { days, refusedUrl }: MostUsedProps): Html {
  return html`<section aria-labelledby="most-used"><h2 id="most-used">Most used API keys</h2>
<p class="quiet">By their requests, ${uncapitalize(days)}.</p>
<div class="card flush">${table({
    name: 'most-used',
    label: 'Most used API keys',
    columns: ['Key', 'Acts for', 'Successful', 'Refused', 'Failed'],
    rows: keys.map((key) => ({
      cells: [
        keyCell(key, urlsOf(key)),
        html`<a class="clamp" href="${keysUrlOf(key.holder)}">${key.holder.name}</a>`,
        formatNumber(key.successful),
        key.refused === 0 ? 0 : html`<a href="${refusedUrl(key)}">${formatNumber(key.refused)}</a>`,
        formatNumber(key.failed),
      ],
    })),
  })}</div></section>`;
}

function urlsOf({ holder }: Pick<OrganizationKey, 'holder'>): KeyUrls {
  return { listUrl: keysUrlOf(holder), back: null };
}
