import { mayTakeKeysOf } from '../domain/role.ts';
import type { KeyAccess } from '../service/key-access.ts';
import { listAdministrators } from '../service/organization.ts';
import type { Html } from './html.ts';
import { contacts } from './pages/key-list.ts';
import type { SignedIn } from './visit.ts';

/** Why the visitor may make no key here, and who can help. */
export async function whyNoKey({ actor, dashboard }: SignedIn, { holder }: KeyAccess): Promise<Html> {
  if (!holder.isActive) return contacts(`${holder.name} is deactivated, so there can be no new API keys.`, []);
  if (actor.isSuspended) return contacts('There can be no new API keys while the organization is suspended.', []);
  const isOwn = holder.id === actor.userId;
  if (!isOwn && mayTakeKeysOf(actor.role, holder.role)) return contacts('You may not create API keys here.', []);
  const message = isOwn
    ? 'You may not create API keys. Contact an administrator or support.'
    : `You may not create API keys for an ${holder.role}, because a key has its user’s power. Contact an administrator.`;
  return contacts(message, await listAdministrators(dashboard.db, actor.scope));
}
