import type { Environment } from '../../domain/keys/api-key.ts';
import type { Permission, Role } from '../../domain/people/role.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { formatDay, formatInstant, formatSecond } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';

export const ROLE_WORDS: Record<Role, { name: string; meaning: string }> = {
  administrator: { name: 'Administrator', meaning: 'All keys, all people and the organization.' },
  manager: {
    name: 'Manager',
    meaning:
      'Own keys, keys of managers, members and viewers, and accounts of members and viewers. Can revoke every key.',
  },
  member: { name: 'Member', meaning: 'Own keys, if the organization lets members create them.' },
  viewer: { name: 'Viewer', meaning: 'Reads only. Cannot create keys.' },
};

/** What the keys of an integration may do, by its role. */
export const INTEGRATION_ROLE_MEANING = { member: 'read and write', viewer: 'only read' };

export const ENVIRONMENT_WORDS: Record<Environment, string> = { live: 'Live', test: 'Test' };

/** Returns the meaning of a permission, such as "List and read parent programs." for `parent_programs:read`. */
export function permissionMeaning(permission: Permission): string {
  const [resource = '', right] = permission.split(':');
  return `${right === 'read' ? 'List and read' : 'Create, change and delete'} ${resource.replaceAll('_', ' ')}.`;
}

/** Returns a permission as markup. The line may break only after the colon. */
export function permissionChip(permission: string): Html {
  const [resource = '', right = ''] = permission.split(':');
  return html`<code>${resource}:<wbr>${right}</code> `;
}

/** Returns the count, such as "1,234", or, if the count exceeds the maximum, the maximum with a plus sign, such as "1,000+". */
export function boundedCount(count: number, most: number): string {
  return count > most ? `${formatNumber(most)}+` : formatNumber(count);
}

/** Returns a time such as "20 Sep 2026, 14:05 UTC". */
export function instant(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${formatInstant(at)}</time>`;
}

/** Returns a time such as "20 Sep 2026, 14:05:09 UTC". The script adds the time in the reader's time zone. */
export function exactInstant(at: Date): Html {
  return html`<time datetime="${at.toISOString()}" data-local-time>${formatSecond(at)}</time>`;
}

/** Returns a day such as "20 Sep 2026". The tooltip contains the time. */
export function day(at: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${formatInstant(at)}">${formatDay(at)}</time>`;
}

/** Returns the permissions in a short form for lists, such as "parent_programs read, write". */
export function permissionWords(permissions: readonly string[]): Html {
  const rights = Map.groupBy(permissions, (permission) => permission.split(':')[0] ?? '');
  return html`<span class="chips">${[...rights].map(
    ([resource, all]) =>
      html`<code>${resource}</code> <span class="rights">${all.map((each) => each.slice(resource.length + 1)).join(', ')}</span> `,
  )}</span>`;
}

const STEPS = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3600 },
  { unit: 'minute', seconds: 60 },
] as const;

/** Returns how long ago something happened, such as "5 minutes ago". Returns the day if that was more than 30 days ago. */
export function since(at: Date, now: Date): Html {
  const seconds = Math.max(0, (now.getTime() - at.getTime()) / 1000);
  if (seconds > 30 * 86_400) return day(at);
  const step = STEPS.find((each) => seconds >= each.seconds);
  const words = step === undefined ? 'just now' : `${formatCount(Math.floor(seconds / step.seconds), step.unit)} ago`;
  return html`<time datetime="${at.toISOString()}" title="${formatInstant(at)}">${words}</time>`;
}
