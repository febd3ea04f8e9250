import { STATUS_CODES } from 'node:http';
import { isUnsuccessful, KEPT_REQUESTS } from '../../domain/keys/key-usage.ts';
import { formatCount, formatNumber, isId } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { exportRequests, listRequests, type RequestsOf } from '../../service/keys/key-requests.ts';
import type { ListedRequest, RequestSummary } from '../../store/keys/key-requests.ts';
import { MINUTES, type Option, parseSpan, select, text, withNormalForm } from '../forms/fields.ts';
import { type Form, fieldsOf, isFiltered, problemSummary, type Typed, typedOf } from '../forms/form.ts';
import {
  fileUrlOf,
  guideUrl,
  type KeyUrls,
  keysUrlOf,
  keyUrl,
  ORGANIZATION_REQUESTS_URL,
  requestsUrl,
  urlOf,
} from '../http/addresses.ts';
import { csvFile } from '../http/csv-file.ts';
import { type Problem, problemOfFields } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { organizationHead } from '../markup/organization-head.ts';
import { badge, filterFold, head, hiddenInput, pager } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { exactInstant } from '../markup/words.ts';
import { keyCell } from './cells.ts';
import { readKey } from './confirmation.ts';
import type { KeyContext } from './context.ts';
import { cutToPrefix, keySearchField } from './search.ts';

// The list of recorded requests, as a page and as a CSV file: either with one key or with all keys of the organization.

type Statuses = readonly [lowest: number, highest: number];

const ALL_STATUSES: Statuses = [100, 599];

const STATUSES: ReadonlyMap<string, { readonly words: string; readonly statuses: Statuses }> = new Map(
  Object.entries({
    '': { words: 'All', statuses: ALL_STATUSES },
    refused: { words: 'Refused, 4xx', statuses: [400, 499] },
    unauthenticated: { words: '401, the key was not accepted', statuses: [401, 401] },
    forbidden: { words: '403, not permitted', statuses: [403, 403] },
    invalid: { words: '422, not valid', statuses: [422, 422] },
    limited: { words: '429, a rate limit', statuses: [429, 429] },
    failed: { words: 'Failed, 5xx', statuses: [500, 599] },
    successful: { words: 'Successful, a sample', statuses: [100, 399] },
  }),
);

const TIME = html`autocomplete="off"`;

type Props = { readonly operations: readonly string[]; readonly chosen: string };

/** Creates the select of an operation for filters. */
export const operationField = () =>
  withNormalForm(select({ label: 'Operation', options: operationOptions }), cutToPrefix);

function operationOptions({ operations, chosen }: Props): readonly Option[] {
  // The chosen operation is added, because there may be no requests to it any more.
  const all = [...new Set([...operations, chosen])].filter((each) => each !== '');
  return [{ value: '', words: 'All' }, ...all.map((each) => ({ value: each, words: each }))];
}

/**
 * The fields of the filters. An empty value filters nothing. `from` and `to` are minutes in UTC such as "2026-01-31T14:05", both
 * included.
 */
export const FILTERS = {
  status: withNormalForm(
    select({
      label: 'Status',
      options: [...STATUSES].map(([value, { words }]) => ({ value, words })),
    }),
    cutToPrefix,
  ),
  operation: operationField(),
  key: keySearchField('API key', 'Name or prefix'),
  from: withNormalForm(text({ label: 'From, UTC', type: 'datetime-local', attributes: TIME }), cutToPrefix),
  to: withNormalForm(text({ label: 'To, UTC', type: 'datetime-local', attributes: TIME }), cutToPrefix),
  request: keySearchField('X-Request-Id', 'Whole ID'),
};

type FilterValues = Typed<typeof FILTERS>;

/** A list of requests, either with one key or with all keys of the organization. */
type Place = {
  readonly of: RequestsOf;
  readonly url: string;
  /** The URLs of the key's pages; `null` if the list contains the requests with all keys. */
  readonly urls: KeyUrls | null;
};

const ALL_KEYS: Place = { of: 'all keys', url: ORGANIZATION_REQUESTS_URL, urls: null };

/** Returns the list of requests with the key in the path. Throws "not_found" unless the actor may see the key. */
async function readPlace(context: KeyContext): Promise<Place> {
  const { key } = await readKey(context);
  return { of: key, url: requestsUrl(context.listUrl, key.id), urls: context };
}

/** Returns the URL of the list with these parameters: the filters and the position of a page. */
function listUrlOf({ url, urls }: Place, values: Readonly<Record<string, string>>): string {
  return urlOf(url, { ...values, back: urls?.back ?? null });
}

export async function showKeyRequests(context: KeyContext): Promise<View> {
  return showRequests(context, await readPlace(context));
}

export async function showOrganizationRequests(context: SignedInContext): Promise<View> {
  return showRequests(context, ALL_KEYS);
}

/**
 * Redirects to the filtered list. The filters are sent by POST, because people may paste a whole API key, which must not get into
 * a URL. In `values`, each key has already been replaced with its prefix.
 */
export async function filterKeyRequests(context: KeyContext, { values }: Form<typeof FILTERS>): Promise<View> {
  return redirect(listUrlOf(await readPlace(context), values));
}

export async function filterOrganizationRequests(
  _context: SignedInContext,
  { values }: Form<typeof FILTERS>,
): Promise<View> {
  return redirect(listUrlOf(ALL_KEYS, values));
}

export async function downloadKeyRequests(context: KeyContext): Promise<View> {
  return downloadRequests(context, await readPlace(context));
}

export async function downloadOrganizationRequests(context: SignedInContext): Promise<View> {
  return downloadRequests(context, ALL_KEYS);
}

async function showRequests(context: SignedInContext, place: Place): Promise<View> {
  const { dashboard, actor, now, query } = context;
  const values = typedOf(FILTERS, query);
  const { filters, problem } = readFilters(values);
  const [after, before] = [query.get('after'), query.get('before')];
  const list = await listRequests(dashboard.db, actor, place.of, { filters, now, after, before });
  const { previous, next } = list;
  const key = place.of === 'all keys' ? null : place.of;
  const isFirst = after === null && before === null;
  const heading =
    key === null || place.urls === null
      ? organizationHead('usage', actor)
      : head({
          title: 'Requests',
          up: { name: key.name, href: keyUrl(key, place.urls) },
          lead: html`API key <code>${key.prefix}…</code>`,
        });
  // If the filters are refused, the page shows no requests, because people would think that they match the filters.
  const content =
    problem === null &&
    html`<section aria-labelledby="requests"><div class="section-head"><h2 id="requests"${key !== null && html` class="unseen"`}>Requests</h2>
<a class="button" href="${listUrlOf({ ...place, url: fileUrlOf(place.url) }, values)}">${icon('download')}Export as CSV</a></div>
${keptWords(list, dashboard.keyUses.delaySeconds())}
${list.requests.length === 0 ? noRequests(place, { isFirst, values }) : requestTable(list.requests, place)}
${pager({ isFirst, previous, next, urlAt: (position) => listUrlOf(place, { ...values, ...position }) })}</section>`;
  const main = html`${heading}
${problemSummary(problem, FILTERS)}
${filterForm(context, { place, values, problem, operations: list.operations })}
${content}`;
  return page(context, { title: key === null ? 'Requests' : `Requests with ${key.name}`, main, problem });
}

async function downloadRequests(context: SignedInContext, place: Place): Promise<View> {
  const { dashboard, actor, query } = context;
  const values = typedOf(FILTERS, query);
  const { filters, problem } = readFilters(values);
  if (problem !== null) return redirect(listUrlOf(place, values));
  const pages = exportRequests(dashboard.db, actor, place.of, filters);
  return csvFile(context, { name: 'charter-requests', columns: COLUMNS, pages });
}

const COLUMNS = {
  time: ({ at }) => at.toISOString(),
  operation: ({ operation }) => operation,
  status: ({ status }) => String(status),
  exception: ({ exception }) => exception,
  message: ({ message }) => message,
  duration_ms: ({ durationMs }) => String(durationMs),
  request_id: ({ requestId }) => requestId,
  key_id: ({ key }) => key.id,
  key_name: ({ key }) => key.name,
  key_prefix: ({ key }) => key.prefix,
} satisfies Record<string, (request: ListedRequest) => string>;

/**
 * Returns the filters of the query, and a problem with a message for each wrong value; `problem` is `null` if all values are
 * valid.
 */
function readFilters({ status, operation, key, from, to, request }: FilterValues) {
  const { span, errors } = parseSpan({ from, to }, MINUTES);
  const chosen = STATUSES.get(status);
  if (chosen === undefined) errors['status'] = ['must be one of those in the list.'];
  if (request !== '' && !isId(request)) errors['request'] = ['must be a whole X-Request-Id, as a response has it.'];
  const filters = {
    statuses: chosen?.statuses ?? ALL_STATUSES,
    operation: operation === '' ? null : operation,
    key,
    ...span,
    requestId: isId(request) ? request : null,
  };
  return { filters, problem: problemOfFields(errors) };
}

type FilterProps = {
  readonly place: Place;
  readonly values: FilterValues;
  readonly problem: Problem | null;
  readonly operations: readonly string[];
};

function filterForm({ formToken }: SignedInContext, { place, values, problem, operations }: FilterProps): Html {
  const { key, ...fields } = fieldsOf(FILTERS, { typed: values, problem }, { operations, chosen: values.operation });
  const url = listUrlOf(place, {});
  return html`<form class="card filters" method="post" action="${url}" aria-label="Filters">${hiddenInput('form_token', formToken)}
${filterFold(
  { isOpen: problem !== null || isFiltered(values) },
  html`${place.urls === null && key}${Object.values(fields)}
<div class="actions"><button class="button">Filter</button><a class="button plain" href="${url}">Clear</a></div>`,
)}</form>`;
}

/** Returns a paragraph about which requests are recorded and which are not. */
function keptWords({ unlisted }: RequestSummary, delaySeconds: number): Html {
  const { unsuccessful, successful, days } = KEPT_REQUESTS;
  return html`<p class="quiet">For each key, the last ${formatNumber(unsuccessful)} requests of ${days} days that were refused or failed are listed, and of the successful ones a sample: at most one for each operation every few seconds, and the last ${successful}. Requests of the last ${delaySeconds} seconds may be missing. Requests with an unknown key belong to no key.</p>
${unlisted > 0 && html`<p class="warn-text">Of these days, ${formatCount(unlisted, 'request')} that ${unlisted === 1 ? 'was' : 'were'} refused or failed ${unlisted === 1 ? 'is' : 'are'} not listed, because too many came at once.</p>`}`;
}

function noRequests(
  place: Place,
  { isFirst, values }: { readonly isFirst: boolean; readonly values: FilterValues },
): Html {
  if (!isFirst) return html`<div class="card empty"><p>There are no more requests.</p></div>`;
  if (!isFiltered(values)) return html`<div class="card empty"><p>No requests are recorded.</p></div>`;
  return html`<div class="card empty"><p>No recorded request matches the filters.</p><p><a class="button" href="${listUrlOf(place, {})}">Show all requests</a></p></div>`;
}

function requestTable(requests: readonly ListedRequest[], { urls }: Place): Html {
  const isOfAll = urls === null;
  return html`<div class="card flush">${table({
    name: isOfAll ? 'requests-of-all' : 'requests',
    label: 'Requests, the latest first',
    columns: ['Time', ...(isOfAll ? ['Key'] : []), 'Operation', 'Response', 'X-Request-Id', 'Duration'],
    rows: requests.map((request) => ({ cells: cells(request, isOfAll) })),
  })}</div>`;
}

function cells({ at, operation, requestId, durationMs, key, ...response }: ListedRequest, isOfAll: boolean) {
  return [
    exactInstant(at),
    ...(isOfAll ? [keyCell(key, { listUrl: keysUrlOf(key.holder), back: null })] : []),
    html`<a class="breakable" href="${guideUrl(`reference/${operation}`)}">${operation}</a>`,
    responseCell(response),
    html`<code class="small breakable">${requestId}</code>`,
    `${formatNumber(durationMs)} ms`,
  ];
}

function responseCell(response: Pick<ListedRequest, 'status' | 'exception' | 'message'>): Html {
  const { status, exception, message } = response;
  const kind = status >= 500 ? 'danger' : isUnsuccessful(response) ? 'warn' : 'good';
  return html`${badge(kind, String(status))} ${exception === '' ? STATUS_CODES[status] : exception}${message !== '' && html`<span class="under breakable">${message}</span>`}`;
}
