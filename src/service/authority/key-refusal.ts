import type { Holder } from '../../domain/keys/holder.ts';
import {
  type KeyPolicy,
  mayCreateOwnKeys,
  mayTakeKeysOf,
  mayTakeKeysOfOwned,
  type Role,
} from '../../domain/people/role.ts';
import type { KeyRefusal, KeyRefused } from '../outcome.ts';

/** An action that shows a key or keeps it in use. Revoking a key needs less; see lockForRevocation. */
export type KeyAction = 'create' | 'rotate' | 'rename' | 'restrict' | 'move';

export type KeyHolder = Pick<Holder, 'id' | 'kind' | 'name'> & {
  readonly role: Role;
  /** `null` if the user or the integration is active. */
  readonly deactivatedAt: Date | null;
  /** The owner of an integration; `null` exactly for a person. */
  readonly ownerUserId: string | null;
};

type Situation = {
  /** `null` for an operator, who is bound by neither role nor suspension. */
  readonly actor: { readonly id: string; readonly role: Role } | null;
  readonly holder: KeyHolder;
  readonly policy: Pick<KeyPolicy, 'membersMayCreateKeys'>;
  readonly isSuspended: boolean;
};

/** Why the actor may do none of the actions with keys of the holder; `null` if the actor may do all. */
export function findKeyRefusal({ actor, holder, policy, isSuspended }: Situation): KeyRefusal | null {
  if (holder.deactivatedAt !== null) return 'deactivated';
  if (actor === null) return null;
  if (isSuspended) return 'suspended';
  return isAllowed(actor, holder, policy) ? null : 'role';
}

function isAllowed(actor: NonNullable<Situation['actor']>, holder: KeyHolder, policy: Situation['policy']): boolean {
  if (actor.id === holder.id) return mayCreateOwnKeys(actor.role, policy);
  if (mayTakeKeysOf(actor.role, holder.role)) return true;
  return actor.id === holder.ownerUserId && mayTakeKeysOfOwned(actor.role, holder.role, policy);
}

type Refused = {
  readonly holder: Pick<KeyHolder, 'kind' | 'name' | 'role'>;
  readonly isOwn: boolean;
  readonly action: KeyAction;
};

/** The refusal with the one message that lists, pages and forms show. */
export function refuseKey(reason: KeyRefusal, refused: Refused): KeyRefused {
  return { kind: 'refused', reason, message: messageOf(reason, refused) };
}

function messageOf(reason: KeyRefusal, { holder, isOwn, action }: Refused): string {
  const nothing = 'no API key can be created, rotated, renamed, restricted or moved';
  switch (reason) {
    case 'deactivated':
      return holder.kind === 'person'
        ? `${holder.name} is deactivated: ${nothing} until the user is reactivated.`
        : `${holder.name} is suspended: ${nothing} until the integration is reactivated.`;
    case 'suspended':
      return `While the organization is suspended, ${nothing}.`;
    case 'role': {
      if (isOwn) return `You may not ${action} API keys. Contact an administrator or support.`;
      if (holder.kind === 'integration')
        return `You may not ${action} API keys of this integration. Contact an administrator or support.`;
      const whose = `${action === 'create' ? 'for' : 'of'} an ${holder.role}`;
      return `You may not ${action} API keys ${whose}, because a key has its user’s permissions. Contact an administrator.`;
    }
  }
}
