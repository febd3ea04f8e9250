import type { Actor } from '../domain/actor.ts';
import { endOf, isExpiringSoon, type KeyState } from '../domain/api-key.ts';
import { isId } from '../domain/id.ts';
import type { Database } from '../store/database.ts';
import {
  findListedKey,
  type KeyPosition,
  type ListedKey,
  listActiveKeysMadeForOthers,
  listKeysOf,
} from '../store/key-lists.ts';
import { getKeyAccess, type KeyAccess, refuseUnlessSeesOthers } from './key-access.ts';
import { noSuchKey } from './key-conflict.ts';
import { decodePosition, encodePosition } from './position.ts';

export type KeyView = Pick<
  ListedKey,
  'id' | 'name' | 'prefix' | 'permissions' | 'createdAt' | 'createdBy' | 'lastUsedAt' | 'expiresAt' | 'refusedUses'
> & {
  readonly state: KeyState;
  /** Null: it has not ended. */
  readonly endedAt: Date | null;
  /** Null: it has not ended, it expired, or an operator ended it. */
  readonly endedBy: string | null;
  /** Within 30 days. */
  readonly isExpiringSoon: boolean;
};

type Keys<K> = {
  readonly keys: readonly K[];
  /** For the next page's `after`; null: this is the last. */
  readonly next: string | null;
};
type Page = { after?: string | null; now?: Date };

/** Active ones first, then newest first. */
export type KeyList = KeyAccess & Keys<KeyView>;

const PAGE = 50;

/** The keys of a user and what the actor may do with them, in two statements however many there are; never a secret. */
export async function listKeys(
  db: Database,
  actor: Actor,
  userId: string,
  { after = null, now = new Date() }: Page = {},
): Promise<KeyList> {
  const access = await getKeyAccess(db, actor, userId);
  const found = await listKeysOf(db, actor.scope, { userId, now, after: positionOf(after), limit: PAGE + 1 });
  return { ...access, ...pageOf(found, (key) => viewOf(key, now)) };
}

/** One of them. */
export async function getKey(
  db: Database,
  actor: Actor,
  { userId, keyId, now = new Date() }: { userId: string; keyId: string; now?: Date },
): Promise<KeyAccess & { readonly key: KeyView }> {
  const access = await getKeyAccess(db, actor, userId);
  const found = isId(keyId) ? await findListedKey(db, actor.scope, { userId, id: keyId }) : null;
  if (found === null) throw noSuchKey();
  return { ...access, key: viewOf(found, now) };
}

export type KeysMadeForOthers = Keys<KeyView & { readonly holder: { id: string; name: string; email: string } }>;

/** Active keys that this user made for others, and was shown: to be reviewed once the user is not trusted any more. Newest first. */
export async function listKeysMadeForOthers(
  db: Database,
  actor: Actor,
  userId: string,
  { after = null, now = new Date() }: Page = {},
): Promise<KeysMadeForOthers> {
  refuseUnlessSeesOthers(actor);
  await getKeyAccess(db, actor, userId);
  const query = { userId, now, after: positionOf(after), limit: PAGE + 1 };
  return pageOf(await listActiveKeysMadeForOthers(db, actor.scope, query), (key) => ({
    ...viewOf(key, now),
    holder: { id: key.holderId, name: key.holderName, email: key.holderEmail },
  }));
}

function pageOf<K extends KeyView>(found: readonly ListedKey[], view: (key: ListedKey) => K): Keys<K> {
  const keys = found.slice(0, PAGE).map(view);
  const last = keys.at(-1);
  const isMore = found.length > PAGE && last !== undefined;
  return { keys, next: isMore ? encodePosition(last.state, last.createdAt.toISOString(), last.id) : null };
}

/** PostgreSQL knows fewer years than a Date does. */
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;

function positionOf(after: string | null): (KeyPosition & { isActive: boolean }) | null {
  const position = decodePosition(after);
  const [state, instant = ''] = position?.parts ?? [];
  const createdAt = new Date(instant);
  if (position === null || !INSTANT.test(instant) || Number.isNaN(createdAt.getTime())) return null;
  return { createdAt, id: position.id, isActive: state === 'active' };
}

function viewOf(key: ListedKey, now: Date): KeyView {
  const { id, name, prefix, permissions, createdAt, createdBy, lastUsedAt, expiresAt, refusedUses } = key;
  const end = endOf(key, now);
  const enders = { rotated: key.rotatedBy, revoked: key.revokedBy, expired: null };
  return {
    ...{ id, name, prefix, permissions, createdAt, createdBy, lastUsedAt, expiresAt, refusedUses },
    state: end?.kind ?? 'active',
    endedAt: end?.at ?? null,
    endedBy: end === null ? null : enders[end.kind],
    isExpiringSoon: end === null && isExpiringSoon(expiresAt, now),
  };
}
