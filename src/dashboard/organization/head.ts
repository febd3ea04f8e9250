import { mayGovern, type Role } from '../../domain/role.ts';
import type { Html } from '../markup/html.ts';
import { head } from '../markup/parts.ts';

type Tab = 'policy' | 'api-keys' | 'audit-log';

const TABS: readonly { readonly tab: Tab; readonly name: string; readonly href: string }[] = [
  { tab: 'policy', name: 'Policy', href: '/organization' },
  { tab: 'api-keys', name: 'API keys', href: '/organization/api-keys' },
  { tab: 'audit-log', name: 'Audit log', href: '/organization/audit-log' },
];

/** The heading of the organization's pages, with tabs for those who may open more than one of them. */
export function organizationHead(current: Tab, role: Role, action?: Html): Html {
  if (!mayGovern(role)) return head({ title: 'API keys of the organization', action });
  const tabs = TABS.map(({ tab, name, href }) => ({ name, href, isCurrent: tab === current }));
  return head({ title: 'Organization', action, tabs: { label: 'Organization pages', tabs } });
}
