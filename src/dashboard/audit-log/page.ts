import { ACTIONS, type AuditListPage, type AuditRecord, listAudit } from '../../service/audit-log.ts';
import type { Problem } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { type Html, html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { field, pager, problemSummary, urlOf } from '../markup/parts.ts';
import { organizationHead } from '../organization/head.ts';
import { ACTION_WORDS, eventTable } from './event-table.ts';
import { type FilterValues, filterValues, readFilters } from './filters.ts';

const LABELS = { action: 'What', person: 'Person', from: 'From', to: 'To' };

export async function showAuditLog(context: SignedInContext): Promise<View> {
  const { actor, dashboard, query } = context;
  const values = filterValues(query);
  const { filters, problem } = await readFilters(context, values);
  const after = query.get('after');
  const list = problem === null ? await listAudit(dashboard.db, actor, { ...filters, after }) : NO_EVENTS;
  const main = html`${organizationHead('audit-log', actor.role)}${problemSummary(problem, LABELS)}
${filterForm(values, problem)}
<section aria-labelledby="events"><div class="section-head"><h2 id="events">Events</h2>
<a class="button" href="${urlOf('/organization/audit-log.csv', values)}" download>Export as CSV</a></div>
${eventList(list.events)}
${pager({
  first: after === null ? null : urlOf('/organization/audit-log', values),
  next: list.next === null ? null : urlOf('/organization/audit-log', { ...values, after: list.next }),
})}</section>`;
  return page(context, { title: 'Audit log', main, problem });
}

const NO_EVENTS: AuditListPage = { events: [], next: null };

function filterForm(values: FilterValues, problem: Problem | null): Html {
  const errors = problem?.fields;
  return html`<form class="card filters" action="/organization/audit-log" aria-label="Filters">
${field({ name: 'action', label: LABELS.action, errors }, (attributes) => html`<select ${attributes}><option value="">Everything</option>${ACTIONS.map((action) => html`<option value="${action}"${action === values.action && html` selected`}>${ACTION_WORDS[action]}</option>`)}</select>`)}
${field({ name: 'person', label: LABELS.person, errors }, (attributes) => html`<input ${attributes} type="text" value="${values.person}" placeholder="E-mail" autocomplete="off" maxlength="254">`)}
${field({ name: 'from', label: LABELS.from, errors }, (attributes) => html`<input ${attributes} type="date" value="${values.from}">`)}
${field({ name: 'to', label: LABELS.to, errors }, (attributes) => html`<input ${attributes} type="date" value="${values.to}">`)}
<div class="actions"><button class="button">Filter</button><a class="button plain" href="/organization/audit-log">Clear</a></div></form>`;
}

function eventList(events: readonly AuditRecord[]): Html {
  if (events.length === 0) {
    return html`<div class="card empty"><h3>No events</h3><p>No recorded event matches the filters.</p><p><a class="button" href="/organization/audit-log">Show everything</a></p></div>`;
  }
  return eventTable(events);
}
