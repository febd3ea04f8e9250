import type { Html } from '../markup/html.ts';
import { head } from '../markup/parts.ts';

/** The heading and the tabs of the organization's pages. */
export function organizationHead(current: 'policy' | 'audit-log'): Html {
  return head({
    title: 'Organization',
    tabs: {
      label: 'Organization pages',
      tabs: [
        { name: 'Policy', href: '/organization', isCurrent: current === 'policy' },
        { name: 'Audit log', href: '/organization/audit-log', isCurrent: current === 'audit-log' },
      ],
    },
  });
}
