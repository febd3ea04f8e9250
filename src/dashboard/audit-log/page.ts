import { DAY_MS } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { countAudit, listAudit, MAX_COUNTED_EVENTS } from '../../service/audit/audit-log.ts';
import type { AuditRecord } from '../../store/audit/audit.ts';
import { type Form, fieldsOf, isFiltered, problemSummary, typedOf } from '../forms/form.ts';
import { AUDIT_LOG_URL, urlOf } from '../http/addresses.ts';
import type { Problem } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { organizationHead } from '../markup/organization-head.ts';
import { doneNotice, filterFold, hiddenInput, pager } from '../markup/parts.ts';
import { boundedCount } from '../markup/words.ts';
import { eventTable } from './event-table.ts';
import { FILTERS, type FilterValues, readFilters } from './filters.ts';

export async function showAuditLog(context: SignedInContext): Promise<View> {
  const { query } = context;
  const values = typedOf(FILTERS, query);
  const { filters, problem } = await readFilters(context, values);
  if (problem !== null) return refusedFilters(context, { values, problem, isExport: false });
  const [after, before] = [query.get('after'), query.get('before')];
  const list = await listAudit(context.dashboard.db, context.actor, { ...filters, after, before });
  const { events, previous, next } = list;
  const total = await countAudit(context.dashboard.db, context.actor, filters);
  const main = html`${doneNotice(query.get('done') === 'proven' ? 'You have confirmed that it is you. Now export the events.' : undefined)}${filterForm(context, values, null)}
<section aria-labelledby="events"><div class="section-head"><h2 id="events">Events <span class="small">${boundedCount(total, MAX_COUNTED_EVENTS)} ${isFiltered(values) ? 'found' : 'in all'}</span></h2>
<a class="button" href="${urlOf(`${AUDIT_LOG_URL}.csv`, values)}">${icon('download')}Export as CSV</a></div>
${eventList(events)}
${pager({
  isFirst: after === null && before === null,
  previous,
  next,
  urlAt: (position) => urlOf(AUDIT_LOG_URL, { ...values, ...position }),
})}</section>`;
  return logPage(context, main, null);
}

/**
 * Redirects to the filtered log. The filters are sent by POST, because people also paste whole API keys, which must not get into
 * a URL. In `values`, each key has already been replaced with its prefix.
 */
export async function filterAuditLog(_context: SignedInContext, { values }: Form<typeof FILTERS>): Promise<View> {
  return redirect(urlOf(AUDIT_LOG_URL, values));
}

type Refused = {
  readonly values: FilterValues;
  readonly problem: Problem;
  /** Whether the refused filters belong to an export. */
  readonly isExport: boolean;
};

/** Shows the refused filters without events, because people would think that the events match the filters. */
export function refusedFilters(context: SignedInContext, { values, problem, isExport }: Refused): View {
  const main = html`${problemSummary(problem, FILTERS)}
${isExport && html`<div class="notice warn"><p><strong>Nothing was exported.</strong> Correct the filters, then export the events that the page shows.</p></div>`}
${filterForm(context, values, problem)}`;
  return logPage(context, main, problem);
}

function logPage(context: SignedInContext, main: Html, problem: Problem | null): View {
  const content = html`${organizationHead('audit-log', context.actor)}${main}`;
  return page(context, { title: 'Audit log', main: content, problem });
}

function filterForm({ formToken, now }: SignedInContext, values: FilterValues, problem: Problem | null): Html {
  return html`<form class="card filters" method="post" action="${AUDIT_LOG_URL}" aria-label="Filters">${hiddenInput('form_token', formToken)}
${filterFold(
  { isOpen: problem !== null || isFiltered(values) },
  html`${Object.values(fieldsOf(FILTERS, { typed: values, problem }))}
<div class="actions"><button class="button">Filter</button><a class="button plain" href="${AUDIT_LOG_URL}">Clear</a></div>
${presets(values, now)}`,
)}</form>`;
}

const PRESETS = [
  { name: 'Today', days: 1 },
  { name: 'Last 7 days', days: 7 },
  { name: 'Last 30 days', days: 30 },
];

/** Returns links to common periods. Each link keeps the other filters. */
function presets(values: FilterValues, now: Date): Html {
  const periods = PRESETS.map(({ name, days }) => {
    return { name, from: new Date(now.getTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10) };
  });
  return html`<nav class="presets" aria-label="Periods"><ul>${[...periods, { name: 'All time', from: '' }].map(
    ({ name, from }) => {
      const isCurrent = values.from === from && values.to === '';
      return html`<li><a href="${urlOf(AUDIT_LOG_URL, { ...values, from, to: '' })}"${isCurrent && html` aria-current="true"`}>${name}</a></li>`;
    },
  )}</ul><p class="quiet small">Days begin at midnight UTC.</p></nav>`;
}

function eventList(events: readonly AuditRecord[]): Html {
  if (events.length === 0) {
    return html`<div class="card empty"><h3>No events</h3><p>No recorded event matches the filters.</p><p><a class="button" href="${AUDIT_LOG_URL}">Show everything</a></p></div>`;
  }
  return eventTable(events);
}
