import { mayManageIntegrations } from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import { icon, KEY_ICON } from '../../html/icons.ts';
import { type IntegrationList, listIntegrations } from '../../service/integrations/integrations.ts';
import type { IntegrationDetails } from '../../store/integrations/integrations.ts';
import {
  guideUrl,
  INTEGRATIONS_URL,
  integrationKeysUrl,
  integrationUrl,
  NEW_INTEGRATION_URL,
  urlOf,
} from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { organizationHead } from '../markup/organization-head.ts';
import { badge, pager, tabBar } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { ROLE_WORDS, since } from '../markup/words.ts';

/** Shows all integrations of the organization. If the role does not allow that, shows those that the signed-in user owns. */
export async function showIntegrations(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now, query } = context;
  if (!mayManageIntegrations(actor.role) && !actor.ownsIntegrations) throw new RequestError('not-allowed');
  const [after, before] = [query.get('after'), query.get('before')];
  const isSuspended = query.get('state') === 'suspended';
  const list = await listIntegrations(dashboard.db, actor, { isSuspended, after, before, now });
  const isFirst = after === null && before === null;
  const main = html`${organizationHead('integrations', actor)}${integrationList(context, list, { isSuspended, isFirst })}`;
  return page(context, { title: 'Integrations', main });
}

const CREATE: Html = html`<a class="button primary" href="${NEW_INTEGRATION_URL}">${icon('create')}Create an integration</a>`;
const GUIDE: Html = html`<a href="${guideUrl('integrations')}">About integrations</a>`;

type Shown = { readonly isSuspended: boolean; readonly isFirst: boolean };

function integrationList(
  { actor, now }: SignedInContext,
  list: IntegrationList,
  { isSuspended, isFirst }: Shown,
): Html {
  const create = mayManageIntegrations(actor.role) && CREATE;
  const { integrations, previous, next } = list;
  const state = isSuspended ? 'suspended' : null;
  return html`<section aria-labelledby="integrations"><div class="section-head"><h2 id="integrations">Integrations</h2>${create}</div>
<p class="quiet">The API keys of an integration do not depend on a person’s account. ${mayManageIntegrations(actor.role) ? GUIDE : html`You see the integrations that you own. ${GUIDE}`}</p>
${tabBar({
  label: 'Status',
  tabs: [
    { name: 'Active', href: INTEGRATIONS_URL, isCurrent: !isSuspended },
    { name: 'Suspended', href: urlOf(INTEGRATIONS_URL, { state: 'suspended' }), isCurrent: isSuspended },
  ],
})}
${
  integrations.length === 0
    ? nothing({ isSuspended, isFirst })
    : html`<div class="card flush">${table({
        name: 'integrations',
        label: 'Integrations',
        columns: ['Name', 'Role', 'Owner', 'API keys', 'Last used'],
        rows: integrations.map((each) => ({ cells: cells(each, now), isEnded: each.suspendedAt !== null })),
      })}</div>`
}
${pager({ isFirst, previous, next, urlAt: (position) => urlOf(INTEGRATIONS_URL, { state, ...position }) })}</section>`;
}

function nothing({ isSuspended, isFirst }: Shown): Html {
  if (!isFirst) return html`<div class="card empty"><p>There are no more integrations.</p></div>`;
  if (isSuspended) return html`<div class="card empty"><p>No integration is suspended.</p></div>`;
  return html`<div class="card empty">${KEY_ICON}<h3>No integrations yet</h3>
<p>Create one for each program that uses the API, such as a nightly import. It keeps working when people leave.</p></div>`;
}

function cells(integration: IntegrationDetails, now: Date) {
  const { id, name, description, role, activeKeys, lastUsedAt } = integration;
  return [
    html`<a class="strong" href="${integrationUrl(id)}">${name}</a>${description !== '' && html`<span class="under clamp">${description}</span>`}`,
    ROLE_WORDS[role].name,
    ownerCell(integration),
    html`<a href="${integrationKeysUrl(id)}">${activeKeys} active<span class="unseen"> API keys of ${name}</span></a>`,
    lastUsedAt === null ? html`<span class="quiet">No use recorded</span>` : since(lastUsedAt, now),
  ];
}

function ownerCell({ ownerName, isOwnerActive }: IntegrationDetails): Html {
  if (isOwnerActive) return html`${ownerName}`;
  return html`${badge('warn', 'No active owner')}<span class="under">${ownerName} is deactivated</span>`;
}
