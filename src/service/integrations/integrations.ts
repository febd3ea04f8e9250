import type { Actor } from '../../domain/audit/actor.ts';
import { ForbiddenError } from '../../domain/errors.ts';
import { mayManageIntegrations } from '../../domain/people/role.ts';
import { isId } from '../../domain/text.ts';
import {
  findIntegration,
  type IntegrationDetails,
  listActiveIntegrations,
  listIntegrations as listStored,
  type NamedIntegration,
} from '../../store/integrations/integrations.ts';
import type { Database } from '../../store/sql/database.ts';
import { noSuchIntegration } from '../authority/integrations.ts';
import { requireRight } from '../authority/rights.ts';
import { decodePosition, encodePosition, readListPage } from '../list-position.ts';

/**
 * The maximum number of active integrations that an organization can have. They are few enough that a form can offer all of them.
 */
export const MAX_ACTIVE_INTEGRATIONS = 200;

export type IntegrationList = {
  readonly integrations: readonly IntegrationDetails[];
  /** The `before` parameter of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** The `after` parameter of the next page; `null` on the last page. */
  readonly next: string | null;
};

const PAGE_SIZE = 50;

/**
 * Lists by name the integrations that the actor may see: all integrations of the organization, or only those that the actor owns.
 */
export async function listIntegrations(
  db: Database,
  actor: Actor,
  { isSuspended, after, before, now }: { isSuspended: boolean; after: string | null; before: string | null; now: Date },
): Promise<IntegrationList> {
  const query = { ownerUserId: ownerSeenBy(actor), isSuspended, now };
  const window = { after: positionOf(after), before: positionOf(before), size: PAGE_SIZE };
  const { rows, previous, next } = await readListPage(
    window,
    (from, limit) => listStored(db, actor.scope, { ...query, from, limit }),
    ({ name, id }) => encodePosition(name, id),
  );
  return { integrations: rows, previous, next };
}

/**
 * Returns an integration. Throws "forbidden" unless the actor may see the integration. Owners may see their integrations,
 * regardless of their role.
 */
export async function getIntegration(
  db: Database,
  actor: Actor,
  { id, now }: { id: string; now: Date },
): Promise<IntegrationDetails> {
  const found = isId(id) ? await findIntegration(db, actor.scope, { id, now }) : null;
  // The actor gets the same refusal whether or not the integration exists, so that nobody can probe for integrations.
  if (!mayManageIntegrations(actor.role) && found?.ownerId !== actor.userId)
    throw new ForbiddenError('You may see only integrations that you own. Contact an administrator or support.');
  if (found === null) throw noSuchIntegration();
  return found;
}

/** Lists the active integrations that the actor may see, by name, for a drop-down list. */
export async function listIntegrationsForChoice(db: Database, actor: Actor): Promise<readonly NamedIntegration[]> {
  const query = { ownerUserId: ownerSeenBy(actor), limit: MAX_ACTIVE_INTEGRATIONS };
  return listActiveIntegrations(db.prisma, actor.scope, query);
}

/** Lists the active integrations of one owner, for an actor who may see all integrations. */
export async function listIntegrationsOwnedBy(
  db: Database,
  actor: Actor,
  userId: string,
): Promise<readonly NamedIntegration[]> {
  requireRight(actor, 'manage integrations');
  return listActiveIntegrations(db.prisma, actor.scope, { ownerUserId: userId, limit: MAX_ACTIVE_INTEGRATIONS });
}

function ownerSeenBy({ role, userId }: Actor): string | null {
  return mayManageIntegrations(role) ? null : userId;
}

function positionOf(text: string | null): { readonly name: string } | null {
  const [name] = decodePosition(text)?.parts ?? [];
  return name === undefined ? null : { name };
}
