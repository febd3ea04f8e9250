import type { Actor } from '../../domain/actor.ts';
import type { Database } from '../../store/database.ts';
import { findOrganizationUse, type OrganizationUse } from '../../store/key-uses.ts';
import { refuseUnlessSeesOthers } from './key-access.ts';

export type { OrganizationUse };

/** Number of most used keys. */
export const MOST_USED = 10;

/** The requests with all keys of the organization, for those who may see them. */
export async function getOrganizationUse(db: Database, actor: Actor, now: Date): Promise<OrganizationUse> {
  refuseUnlessSeesOthers(actor);
  return findOrganizationUse(db, actor.scope, { now, keys: MOST_USED });
}
