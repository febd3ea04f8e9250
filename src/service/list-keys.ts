import type { Actor } from '../domain/actor.ts';
import { endOf, isExpiringSoon, type KeyState } from '../domain/api-key.ts';
import { isId } from '../domain/id.ts';
import type { Database } from '../store/database.ts';
import {
  countActiveKeys,
  findListedKey,
  type KeyPosition,
  type ListedKey,
  listActiveKeysMadeForOthers,
  listKeysOf,
} from '../store/key-lists.ts';
import { getKeyAccess, type KeyAccess, refuseUnlessSeesOthers } from './key-access.ts';
import { noSuchKey } from './key-conflict.ts';
import { decodePosition, encodePosition, parseInstant } from './list-position.ts';

export type KeyDetails = Pick<
  ListedKey,
  | 'id'
  | 'name'
  | 'prefix'
  | 'permissions'
  | 'createdAt'
  | 'createdBy'
  | 'lastUsedAt'
  | 'lastUsedNetwork'
  | 'lastUsedClient'
  | 'expiresAt'
  | 'refusedUses'
> & {
  readonly state: KeyState;
  /** Null: it has not ended. */
  readonly endedAt: Date | null;
  /** Null: it has not ended, it expired, or an operator ended it. */
  readonly endedBy: string | null;
  /** In the last fifth of its life, and within 30 days. */
  readonly isExpiringSoon: boolean;
};

type KeyListPage<Key> = {
  readonly keys: readonly Key[];
  /** `after` of the next page; null: this is the last. */
  readonly next: string | null;
};
type PageRequest = { after?: string | null; now?: Date };

/** Active keys first, each part with the newest first. */
export type KeyList = KeyAccess & KeyListPage<KeyDetails>;

const PAGE_SIZE = 50;

/** The keys of a user, without secrets, and what the actor may do with them; in two statements. */
export async function listKeys(
  db: Database,
  actor: Actor,
  userId: string,
  { after = null, now = new Date() }: PageRequest = {},
): Promise<KeyList> {
  const access = await getKeyAccess(db, actor, userId);
  const found = await listKeysOf(db, actor.scope, { userId, now, after: positionOf(after), limit: PAGE_SIZE + 1 });
  return { ...access, ...pageOf(found, (key) => detailsOf(key, now)) };
}

/** How many of the user's keys are active, for the limit of MAX_ACTIVE_KEYS. */
export async function countActive(
  db: Database,
  actor: Actor,
  { userId, now }: { userId: string; now: Date },
): Promise<number> {
  if (actor.userId !== userId) refuseUnlessSeesOthers(actor);
  return countActiveKeys(db, actor.scope, { userId, now });
}

/** One key of a user, and what the actor may do with it. Throws "not_found" where there is no such key. */
export async function getKey(
  db: Database,
  actor: Actor,
  { userId, keyId, now = new Date() }: { userId: string; keyId: string; now?: Date },
): Promise<KeyAccess & { readonly key: KeyDetails }> {
  const access = await getKeyAccess(db, actor, userId);
  const found = isId(keyId) ? await findListedKey(db, actor.scope, { userId, id: keyId }) : null;
  if (found === null) throw noSuchKey();
  return { ...access, key: detailsOf(found, now) };
}

export type KeyWithHolder = KeyDetails & { readonly holder: { id: string; name: string; email: string } };

export type KeysMadeForOthers = KeyListPage<KeyWithHolder>;

/** Active keys that this user made for others, and so has seen: to be reviewed when the user leaves. The newest first. */
export async function listKeysMadeForOthers(
  db: Database,
  actor: Actor,
  userId: string,
  { after = null, now = new Date() }: PageRequest = {},
): Promise<KeysMadeForOthers> {
  refuseUnlessSeesOthers(actor);
  await getKeyAccess(db, actor, userId);
  const query = { userId, now, after: positionOf(after), limit: PAGE_SIZE + 1 };
  return pageOf(await listActiveKeysMadeForOthers(db, actor.scope, query), (key) => withHolder(key, now));
}

export function withHolder(key: ListedKey, now: Date): KeyWithHolder {
  return { ...detailsOf(key, now), holder: { id: key.holderId, name: key.holderName, email: key.holderEmail } };
}

function pageOf<Key extends KeyDetails>(
  found: readonly ListedKey[],
  details: (key: ListedKey) => Key,
): KeyListPage<Key> {
  const keys = found.slice(0, PAGE_SIZE).map(details);
  const last = keys.at(-1);
  const isMore = found.length > PAGE_SIZE && last !== undefined;
  return { keys, next: isMore ? encodePosition(last.state, last.createdAt.toISOString(), last.id) : null };
}

function positionOf(after: string | null): (KeyPosition & { isActive: boolean }) | null {
  const position = decodePosition(after);
  const [state, instant = ''] = position?.parts ?? [];
  const createdAt = parseInstant(instant);
  if (position === null || createdAt === undefined) return null;
  return { createdAt, id: position.id, isActive: state === 'active' };
}

export function detailsOf(key: ListedKey, now: Date): KeyDetails {
  const { id, name, prefix, permissions, createdAt, createdBy, expiresAt, refusedUses } = key;
  const { lastUsedAt, lastUsedNetwork, lastUsedClient } = key;
  const end = endOf(key, now);
  const enders = { rotated: key.rotatedBy, revoked: key.revokedBy, expired: null };
  return {
    id,
    name,
    prefix,
    permissions,
    createdAt,
    createdBy,
    lastUsedAt,
    lastUsedNetwork,
    lastUsedClient,
    expiresAt,
    refusedUses,
    state: end?.kind ?? 'active',
    endedAt: end?.at ?? null,
    endedBy: end === null ? null : enders[end.kind],
    isExpiringSoon: end === null && isExpiringSoon(key, now),
  };
}
