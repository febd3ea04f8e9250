import type { Actor } from '../../domain/actor.ts';
import { formatCount } from '../../domain/format.ts';
import { mayGovern, maySeeKeysOfOthers, maySeeWebhooks, type Role } from '../../domain/role.ts';
import { type Html, html } from '../../html/html.ts';
import { ORGANIZATION_KEYS_URL } from '../keys/find.ts';
import { head } from '../markup/parts.ts';

type Tab = 'policy' | 'api-keys' | 'usage' | 'webhooks' | 'audit-log';

export const ORGANIZATION_USAGE_URL = `${ORGANIZATION_KEYS_URL}/requests`;
export const WEBHOOKS_URL = '/organization/webhooks';
export const AUDIT_LOG_URL = '/organization/audit-log';

const TABS: readonly { tab: Tab; name: string; href: string; mayEnter: (role: Role) => boolean }[] = [
  { tab: 'policy', name: 'Policy', href: '/organization', mayEnter: mayGovern },
  { tab: 'api-keys', name: 'API keys', href: ORGANIZATION_KEYS_URL, mayEnter: maySeeKeysOfOthers },
  { tab: 'usage', name: 'Usage', href: ORGANIZATION_USAGE_URL, mayEnter: maySeeKeysOfOthers },
  { tab: 'webhooks', name: 'Webhooks', href: WEBHOOKS_URL, mayEnter: maySeeWebhooks },
  { tab: 'audit-log', name: 'Audit log', href: AUDIT_LOG_URL, mayEnter: mayGovern },
];

/** The heading of the organization's pages, with a tab for each that the role may open. */
export function organizationHead(current: Tab, actor: Actor): Html {
  const tabs = TABS.filter(({ mayEnter }) => mayEnter(actor.role)).map(({ tab, name, href }) => {
    return { name, href, isCurrent: tab === current };
  });
  return html`${head({ title: 'Organization', tabs: { label: 'Organization pages', tabs } })}${disabledEndpointsNotice(current, actor)}`;
}

/** Tells administrators of the endpoints that Charter itself has disabled. */
function disabledEndpointsNotice(current: Tab, { role, endpointsDisabledByCharter }: Actor): Html | false {
  if (endpointsDisabledByCharter === 0 || !mayGovern(role)) return false;
  const [count, verb] = [
    formatCount(endpointsDisabledByCharter, 'webhook endpoint'),
    endpointsDisabledByCharter === 1 ? 'was' : 'were',
  ];
  return html`<div class="notice warn"><p><strong>${count} ${verb} disabled because the receiver failed.</strong> No events are sent to ${endpointsDisabledByCharter === 1 ? 'it' : 'them'}. ${current !== 'webhooks' && html`<a href="${WEBHOOKS_URL}">See the webhooks</a>`}</p></div>`;
}
