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

/** How many active integrations an organization can have: so few that a form can offer all of them. */
export const MAX_ACTIVE_INTEGRATIONS = 200;

export type IntegrationList = {
  readonly integrations: readonly IntegrationDetails[];
  /** `before` of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** `after` of the next page; `null` on the last page. */
  readonly next: string | null;
};

const PAGE_SIZE = 50;

/** The integrations that the actor may see, by name: all of the organization, or those that the actor owns. */
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

/** Throws "forbidden" unless the actor may see the integration. Its owner may, with any role. */
export async function getIntegration(
  db: Database,
  actor: Actor,
  { id, now }: { id: string; now: Date },
): Promise<IntegrationDetails> {
  const found = isId(id) ? await findIntegration(db, actor.scope, { id, now }) : null;
  // The actor is refused whether or not the integration exists, so that nobody can probe for integrations.
  if (!mayManageIntegrations(actor.role) && found?.ownerId !== actor.userId)
    throw new ForbiddenError('You may see only integrations that you own. Contact an administrator or support.');
  if (found === null) throw noSuchIntegration();
  return found;
}

/** The active integrations that the actor may see, by name. */
export async function listIntegrationsForChoice(db: Database, actor: Actor): Promise<readonly NamedIntegration[]> {
  const query = { ownerUserId: ownerSeenBy(actor), limit: MAX_ACTIVE_INTEGRATIONS };
  return listActiveIntegrations(db.prisma, actor.scope, query);
}

/** The active integrations of one owner, for an actor who may see all integrations. */
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
