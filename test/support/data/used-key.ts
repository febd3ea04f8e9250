import type { Database } from '../../../src/store/sql/database.ts';
import { createActor, giveKey, type People } from './actors.ts';

/** A new key of a new member. `of`: as its uses are recorded. */
export async function newKeyIn(db: Database, { scope }: Pick<People, 'scope'>) {
  const actor = await createActor(db, scope, 'member');
  const { id, key } = await giveKey(db, actor);
  return { actor, id, key, of: { organizationId: scope.organizationId, id } };
}

/** The uses of the key that have been written. */
export async function writtenUseOf({ prisma }: Database, id: string) {
  const { lastUsedAt, refusedUses } = await prisma.apiKey.findFirstOrThrow({ where: { id } });
  return { lastUsedAt, refusedUses };
}
