import { isIntegrationRole, mayGovern, mayManageIntegrations } from '../../domain/people/role.ts';
import { formatCount } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import { type AuditListPage, listAudit } from '../../service/audit/audit-log.ts';
import {
  reactivateIntegration,
  suspendIntegration,
  takeOwnership,
} from '../../service/integrations/change-integration.ts';
import { getIntegration } from '../../service/integrations/integrations.ts';
import { listActiveKeys } from '../../service/keys/list-keys.ts';
import type { IntegrationDetails } from '../../store/integrations/integrations.ts';
import { eventTable } from '../audit-log/event-table.ts';
import { problemSummary } from '../forms/form.ts';
import { integrationKeysUrl, integrationUrl, newKeyUrl, urlOf, userUrl } from '../http/addresses.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { keyLine } from '../keys/cells.ts';
import { page } from '../markup/layout.ts';
import { actionForm, badge, beside, doneNotice, emailText, facts, head, pager, postForm } from '../markup/parts.ts';
import { day, INTEGRATION_ROLE_MEANING, instant, ROLE_WORDS, since } from '../markup/words.ts';
import { movingViewOf } from '../routing/errors.ts';
import { integrationHead, integrationIdOf } from './integration-head.ts';

/**
 * The confirmations by the value of the query parameter "done". Anybody can make a link with that parameter, so a function
 * returns `undefined` if the state of the integration contradicts the confirmation.
 */
const DONE = new Map<string, (integration: IntegrationDetails) => string | Html | undefined>([
  [
    'created',
    ({ id, name }) =>
      html`${name} is created. <a href="${newKeyUrl(integrationKeysUrl(id))}">Create its first API key</a> next.`,
  ],
  ['changed', () => 'The changes are saved. They apply at once, to all keys of the integration too.'],
  [
    'suspended',
    ({ name, suspendedAt }) =>
      suspendedAt === null ? undefined : `${name} is suspended. Its keys are refused from now on.`,
  ],
  [
    'reactivated',
    ({ name, suspendedAt }) => (suspendedAt === null ? `${name} is active again, and so are its keys.` : undefined),
  ],
  ['taken', ({ ownerName, isOwnerActive }) => (isOwnerActive ? `${ownerName} is the owner now.` : undefined)],
]);

export async function showIntegration(context: SignedInContext): Promise<View> {
  return integrationPage(context, null);
}

export async function reactivate(context: SignedInContext): Promise<View> {
  const id = integrationIdOf(context);
  const outcome = await reactivateIntegration(context.dashboard.db, context.actor, { id });
  if (outcome.kind !== 'done') return integrationPage(context, problemOf(outcome));
  return redirect(`${integrationUrl(id)}?done=reactivated`);
}

export async function take(context: SignedInContext): Promise<View> {
  const id = integrationIdOf(context);
  await takeOwnership(context.dashboard.db, context.actor, { id });
  return redirect(`${integrationUrl(id)}?done=taken`);
}

/** Returns an integration's page. `problem` is why the last action was refused. */
async function integrationPage(context: SignedInContext, problem: Problem | null): Promise<View> {
  const { actor, dashboard, now, query } = context;
  const integration = await getIntegration(dashboard.db, actor, { id: integrationIdOf(context), now });
  const [after, before] = [query.get('after'), query.get('before')];
  const asked = { userIds: [integration.id], after, before };
  const events = mayGovern(actor.role) ? await listAudit(dashboard.db, actor, asked) : null;
  const mayManage = mayManageIntegrations(actor.role);
  const isFirst = after === null && before === null;
  const main = html`${integrationHead({ integration, current: 'details' })}${doneNotice(DONE.get(query.get('done') ?? '')?.(integration))}${problemSummary(problem)}
${mayManage && !integration.isOwnerActive && ownerNotice(context, integration)}
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>${about(integration, { mayManage, now })}</section>
${mayManage && manageSection(context, integration)}
${events !== null && eventSection(events, { url: integrationUrl(integration.id), isFirst })}`;
  return page(context, { title: integration.name, main, problem });
}

function ownerNotice({ formToken }: SignedInContext, { id, name, ownerName }: IntegrationDetails): Html {
  return html`<div class="notice warn"><p><strong>${name} has no active owner.</strong> ${ownerName}, who owned it, is deactivated. Its keys stay valid.</p>
<div class="actions">${postForm({ action: integrationUrl(id, 'take'), formToken }, html`<button class="button">Take ownership</button>`)}<a class="button plain" href="${integrationUrl(id, 'change')}#owner">Choose an owner</a></div></div>`;
}

function about(integration: IntegrationDetails, { mayManage, now }: { mayManage: boolean; now: Date }): Html {
  const { id, description, role, ownerId, ownerName, ownerEmail, isOwnerActive, noticeEmail, activeKeys } = integration;
  const owner = mayManage ? html`<a href="${userUrl(ownerId)}">${ownerName}</a>` : html`${ownerName}`;
  return facts([
    {
      name: 'Status',
      value:
        integration.suspendedAt === null
          ? badge('good', 'Active')
          : html`${badge('neutral', 'Suspended')} ${instant(integration.suspendedAt)}<span class="under">Its keys are refused with 401.</span>`,
    },
    ...(description === ''
      ? []
      : [{ name: 'Description', value: html`<span class="lines-of-text">${description}</span>` }]),
    {
      name: 'Role',
      value: html`${ROLE_WORDS[role].name}${isIntegrationRole(role) && html`<span class="under">Its keys may ${INTEGRATION_ROLE_MEANING[role]}.</span>`}`,
    },
    {
      name: 'Owner',
      value: html`${owner}${!isOwnerActive && html` ${badge('warn', 'Deactivated')}`}<span class="under">${emailText(ownerEmail)}</span>`,
    },
    { name: 'E-mail for notices', value: noticeEmail === '' ? noAddressWords(integration) : emailText(noticeEmail) },
    { name: 'API keys', value: html`<a href="${integrationKeysUrl(id)}">${activeKeys} active</a>` },
    {
      name: 'Last used',
      value: integration.lastUsedAt === null ? 'No use recorded' : since(integration.lastUsedAt, now),
    },
    { name: 'Created', value: day(integration.createdAt) },
  ]);
}

function noAddressWords({ isOwnerActive }: IntegrationDetails): string {
  return isOwnerActive ? 'None besides the owner’s' : 'None. An administrator gets the mails until there is an owner.';
}

function manageSection({ formToken }: SignedInContext, { id, suspendedAt }: IntegrationDetails): Html {
  return html`<section class="card" aria-labelledby="manage"><h2 id="manage">Manage</h2>
<div class="setting"><div><h3>Change</h3><p class="quiet">Its name, description, role, owner and e-mail for notices.</p></div>
<a class="button" href="${integrationUrl(id, 'change')}">${icon('rename')}Change<span class="unseen"> the integration</span></a></div>
${
  suspendedAt === null
    ? html`<div class="setting"><div><h3>Suspend</h3><p class="quiet">Refuses all of its API keys, until it is reactivated.</p></div>
<a class="button danger-plain" href="${integrationUrl(id, 'suspend')}">${icon('revoke')}Suspend</a></div>`
    : html`<div class="setting"><div><h3>Reactivate</h3><p class="quiet">Its keys that have not ended are accepted again.</p></div>
${postForm({ action: integrationUrl(id, 'reactivate'), formToken }, html`<button class="button">${icon('rotate')}Reactivate</button>`)}</div>`
}</section>`;
}

function eventSection(
  { events, previous, next }: AuditListPage,
  { url, isFirst }: { url: string; isFirst: boolean },
): Html {
  return html`<section aria-labelledby="events"><h2 id="events">Events</h2>
${events.length === 0 ? html`<p class="quiet">There are no ${isFirst ? '' : 'more '}events.</p>` : eventTable(events)}
${pager({ isFirst, previous, next, urlAt: (position) => `${urlOf(url, position)}#events` })}</section>`;
}

export async function showSuspend(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now } = context;
  const { id, name } = await getIntegration(dashboard.db, actor, { id: integrationIdOf(context), now });
  const keys = await listActiveKeys(dashboard.db, actor, { userId: id, now });
  const [title, url] = [`Suspend ${name}`, integrationUrl(id)];
  const effect =
    keys.length === 0
      ? 'It has no active API key.'
      : `${formatCount(keys.length, 'active API key')} ${keys.length === 1 ? 'is' : 'are'} refused with 401.`;
  const content = html`<div class="notice danger"><p><strong>As soon as you press Suspend, no key of ${name} works.</strong> ${effect}</p></div>
<p>The keys are not revoked: if you reactivate the integration, they work again.</p>
${actionForm(context, { action: integrationUrl(id, 'suspend'), button: 'Suspend', kind: 'danger', cancel: url })}`;
  const listUrl = integrationKeysUrl(id);
  const lines = html`<ul class="lines">${keys.map((key) => keyLine(key, listUrl, now))}</ul>`;
  const main = html`${head({ title, up: { name, href: url } })}
${keys.length > 0 ? beside({ title: 'API keys that stop working', about: lines, content }) : html`<div class="card narrow">${content}</div>`}`;
  return page(context, { title, main });
}

export async function suspend(context: SignedInContext): Promise<View> {
  const id = integrationIdOf(context);
  const outcome = await suspendIntegration(context.dashboard.db, context.actor, { id, now: context.now });
  if (outcome.kind !== 'done') return integrationPage(context, problemOf(outcome));
  if (context.isMoving) return movingViewOf(context, 'The integration is suspended.');
  return redirect(`${integrationUrl(id)}?done=suspended`);
}
