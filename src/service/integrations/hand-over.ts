import type { Actor } from '../../domain/audit/actor.ts';
import { normalEmail, shownEmail } from '../../domain/people/email.ts';
import { isId } from '../../domain/text.ts';
import { findActivePerson, listActiveIntegrations, setOwner } from '../../store/integrations/integrations.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { type Conflict, conflict, type Invalid, invalid, recordAct } from '../outcome.ts';
import { wrongOwner } from './change-integration.ts';
import { MAX_ACTIVE_INTEGRATIONS } from './integrations.ts';

/** The name of the form field with the e-mail of the new owner. */
export const NEW_OWNER = 'new_owner';

/** The active integrations of a person who is about to be deactivated or demoted, and their next owner. */
export type HandOver = {
  readonly kind: 'hand-over';
  readonly integrationIds: readonly string[];
  readonly ownerId: string;
  readonly ownerEmail: string;
};

type Request = {
  readonly userId: string;
  /** The e-mail of the next owner; `undefined` if the form did not ask for one. */
  readonly newOwner: string | undefined;
  /** Whether the person may remain the owner: `true` for a demotion, `false` for a deactivation. */
  readonly mayStay: boolean;
};

/**
 * Finds the integrations that `handOver` will change, so that the caller can lock them together with the person. Returns `null`
 * if the person owns no active integration, and a refusal if the next owner is missing or invalid.
 */
export async function planHandOver(
  tx: Transaction,
  { scope }: Actor,
  { userId, newOwner, mayStay }: Request,
): Promise<HandOver | Invalid | null> {
  // The caller refuses an id that is not a UUID, so nothing is planned for such an id.
  if (!isId(userId)) return null;
  const owned = await listActiveIntegrations(tx, scope, { ownerUserId: userId, limit: MAX_ACTIVE_INTEGRATIONS });
  if (owned.length === 0) return null;
  if (newOwner === undefined)
    return invalid(NEW_OWNER, 'must be given: the user owns integrations, which somebody else must answer for.');
  const ownerEmail = normalEmail(newOwner);
  const ownerId = ownerEmail === null ? null : await findActivePerson(tx, scope, ownerEmail);
  if (ownerEmail === null || ownerId === null) return wrongOwner(NEW_OWNER);
  if (ownerId === userId && !mayStay) return invalid(NEW_OWNER, 'must be another user, who stays active.');
  return { kind: 'hand-over', integrationIds: owned.map(({ id }) => id), ownerId, ownerEmail };
}

/**
 * Makes the next owner the owner of the person's integrations. The caller has locked all of them. Returns a refusal if the
 * integrations have changed since planHandOver.
 */
export async function handOver(
  tx: Transaction,
  actor: Actor,
  { userId, found }: { userId: string; found: HandOver | null },
): Promise<Conflict | null> {
  const { scope } = actor;
  const owned = await listActiveIntegrations(tx, scope, { ownerUserId: userId, limit: MAX_ACTIVE_INTEGRATIONS });
  const ids = found?.integrationIds ?? [];
  if (owned.some(({ id }) => !ids.includes(id)))
    return conflict('The user has just become the owner of an integration. Try again.');
  if (found === null || owned.length === 0 || found.ownerId === userId) return null;
  if ((await findActivePerson(tx, scope, found.ownerEmail)) !== found.ownerId)
    return conflict(`${shownEmail(found.ownerEmail)} has just been deactivated. Choose another owner.`);
  await setOwner(tx, scope, { ids: owned.map(({ id }) => id), ownerUserId: found.ownerId });
  for (const { id } of owned) {
    await recordAct(tx, actor, {
      action: 'integration.owner_changed',
      targetUserId: id,
      detail: { to: found.ownerEmail },
    });
  }
  return null;
}
