import { ACTIONS, type AuditListPage, type AuditRecord, listAudit } from '../../service/audit-log.ts';
import type { Problem } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { type Html, html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { field, pager, problemSummary, urlOf } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { instant } from '../markup/words.ts';
import { organizationHead } from '../organization/head.ts';
import { detailLines } from './detail-words.ts';
import { type FilterValues, filterValues, readFilters } from './filters.ts';

const LABELS = { action: 'What', person: 'Person', from: 'From', to: 'To' };

const WORDS: Record<(typeof ACTIONS)[number], string> = {
  'key.created': 'API key created',
  'key.rotated': 'API key rotated',
  'key.revoked': 'API key revoked',
  'key.renamed': 'API key renamed',
  'user.invited': 'User invited',
  'user.role_changed': 'Role changed',
  'user.deactivated': 'User deactivated',
  'user.reactivated': 'User reactivated',
  'user.reset_link_made': 'Reset link made',
  'user.signed_in': 'Signed in',
  'user.sign_in_failed': 'Sign-in failed',
  'user.signed_out': 'Signed out',
  'user.password_set': 'Password set',
  'user.second_factor_on': 'Second factor on',
  'user.second_factor_off': 'Second factor off',
  'user.second_factor_removed': 'Second factor removed',
  'user.recovery_codes_made': 'Recovery codes made',
  'user.password_check_failed': 'Password check failed',
  'organization.policy_changed': 'Policy changed',
  'organization.limits_changed': 'Rate limits changed',
  'organization.suspended': 'Organization suspended',
  'organization.resumed': 'Organization resumed',
};
const WORDS_BY_NAME: ReadonlyMap<string, string> = new Map(Object.entries(WORDS));

export async function showAuditLog(context: SignedInContext): Promise<View> {
  const { actor, dashboard, query } = context;
  const values = filterValues(query);
  const { filters, problem } = await readFilters(context, values);
  const after = query.get('after');
  const list = problem === null ? await listAudit(dashboard.db, actor, { ...filters, after }) : NO_EVENTS;
  const main = html`${organizationHead('audit-log')}${problemSummary(problem, LABELS)}
${filterForm(values, problem)}
<section aria-labelledby="events"><div class="section-head"><h2 id="events">Events</h2>
<a class="button" href="${urlOf('/organization/audit-log.csv', values)}" download>Export as CSV</a></div>
${eventTable(list.events)}
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
${field({ name: 'action', label: LABELS.action, errors }, (attributes) => html`<select ${attributes}><option value="">Everything</option>${ACTIONS.map((action) => html`<option value="${action}"${action === values.action && html` selected`}>${WORDS[action]}</option>`)}</select>`)}
${field({ name: 'person', label: LABELS.person, errors }, (attributes) => html`<input ${attributes} type="text" value="${values.person}" placeholder="E-mail" autocomplete="off" maxlength="254">`)}
${field({ name: 'from', label: LABELS.from, errors }, (attributes) => html`<input ${attributes} type="date" value="${values.from}">`)}
${field({ name: 'to', label: LABELS.to, errors }, (attributes) => html`<input ${attributes} type="date" value="${values.to}">`)}
<div class="actions"><button class="button">Filter</button><a class="button plain" href="/organization/audit-log">Clear</a></div></form>`;
}

function eventTable(events: readonly AuditRecord[]): Html {
  if (events.length === 0) {
    return html`<div class="card empty"><h3>No events</h3><p>No recorded event matches the filters.</p><p><a class="button" href="/organization/audit-log">Show everything</a></p></div>`;
  }
  return html`<div class="card flush">${table({
    name: 'events',
    label: 'Events, the latest first',
    columns: ['When', 'What', 'By', 'About', 'IP address'],
    rows: events.map((event) => ({ cells: cells(event) })),
  })}</div>`;
}

function cells(event: AuditRecord) {
  const { action, ip, userAgent, requestId } = event;
  return [
    instant(event.at),
    html`<span class="strong">${WORDS_BY_NAME.get(action) ?? action}</span>${detailLines(event)}`,
    event.actorId === null
      ? html`<span class="quiet">${requestId === '' ? 'An operator' : 'Not known'}</span>`
      : person(event.actorId, event.actorName),
    about(event),
    html`<span>${ip === '' ? '—' : ip}</span>${userAgent !== '' && html`<details class="more"><summary>More<span class="unseen"> about this request</span></summary><p class="under breakable">${userAgent}</p><p class="under breakable">Request ${requestId}</p></details>`}`,
  ];
}

function about({ actorId, targetId, targetName, keyId, keyName, keyPrefix }: AuditRecord): Html {
  const isOwn = targetId === actorId;
  const whose = isOwn
    ? html`<span class="quiet">Own ${keyId === null ? 'account' : 'key'}</span>`
    : person(targetId ?? '', targetName);
  return html`${targetId !== null && whose}${keyPrefix !== null && html`<span class="under"><span class="clamp">${keyName}</span><code class="prefix">${keyPrefix}…</code></span>`}`;
}

function person(id: string, name: string | null): Html {
  return html`<a class="clamp" href="/people/users/${id}">${name ?? 'Somebody'}</a>`;
}
