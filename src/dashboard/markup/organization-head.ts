import type { Actor } from '../../domain/audit/actor.ts';
import { mayGovern, mayManageIntegrations, maySeeKeysOfOthers, maySeeWebhooks } from '../../domain/people/role.ts';
import { formatCount } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import {
  AUDIT_LOG_URL,
  INTEGRATIONS_URL,
  ORGANIZATION_KEYS_URL,
  ORGANIZATION_URL,
  ORGANIZATION_USAGE_URL,
  SIGN_IN_SETTINGS_URL,
  WEBHOOKS_URL,
} from '../http/addresses.ts';
import { head } from './parts.ts';

type Tab = 'policy' | 'sign-in' | 'integrations' | 'api-keys' | 'usage' | 'webhooks' | 'audit-log';

const TABS: readonly { tab: Tab; name: string; href: string; mayEnter: (actor: Actor) => boolean }[] = [
  { tab: 'policy', name: 'Policy', href: ORGANIZATION_URL, mayEnter: ({ role }) => mayGovern(role) },
  { tab: 'sign-in', name: 'Sign-in', href: SIGN_IN_SETTINGS_URL, mayEnter: ({ role }) => mayGovern(role) },
  {
    tab: 'integrations',
    name: 'Integrations',
    href: INTEGRATIONS_URL,
    mayEnter: ({ role, ownsIntegrations }) => mayManageIntegrations(role) || ownsIntegrations,
  },
  { tab: 'api-keys', name: 'API keys', href: ORGANIZATION_KEYS_URL, mayEnter: ({ role }) => maySeeKeysOfOthers(role) },
  { tab: 'usage', name: 'Usage', href: ORGANIZATION_USAGE_URL, mayEnter: ({ role }) => maySeeKeysOfOthers(role) },
  { tab: 'webhooks', name: 'Webhooks', href: WEBHOOKS_URL, mayEnter: ({ role }) => maySeeWebhooks(role) },
  { tab: 'audit-log', name: 'Audit log', href: AUDIT_LOG_URL, mayEnter: ({ role }) => mayGovern(role) },
];

/** Returns the heading of the organization's pages, with a tab for each page that the actor may open. */
export function organizationHead(current: Tab, actor: Actor): Html {
  const tabs = TABS.filter(({ mayEnter }) => mayEnter(actor)).map(({ tab, name, href }) => {
    return { name, href, isCurrent: tab === current };
  });
  return html`${head({ title: 'Organization', tabs: { label: 'Organization pages', tabs } })}${disabledEndpointsNotice(current, actor)}${lackingOwnersNotice(current, actor)}`;
}

/** Returns a notice for administrators if integrations have no active owner. */
function lackingOwnersNotice(current: Tab, { lacksOwners }: Actor): Html | false {
  return (
    lacksOwners &&
    html`<div class="notice warn"><p><strong>An integration has no active owner.</strong> Its API keys stay valid, but nobody answers for it. ${current === 'integrations' ? 'Choose an owner on its page.' : html`<a href="${INTEGRATIONS_URL}">See the integrations</a>`}</p></div>`
  );
}

/** Returns a notice for administrators if Charter itself has disabled endpoints. */
function disabledEndpointsNotice(current: Tab, { role, endpointsDisabledByCharter }: Actor): Html | false {
  if (endpointsDisabledByCharter === 0 || !mayGovern(role)) return false;
  const [count, verb] = [
    formatCount(endpointsDisabledByCharter, 'webhook endpoint'),
    endpointsDisabledByCharter === 1 ? 'was' : 'were',
  ];
  return html`<div class="notice warn"><p><strong>${count} ${verb} disabled because the receiver failed.</strong> No events are sent to ${endpointsDisabledByCharter === 1 ? 'it' : 'them'}. ${current !== 'webhooks' && html`<a href="${WEBHOOKS_URL}">See the webhooks</a>`}</p></div>`;
}
