import type { Actor } from '../../domain/audit/actor.ts';
import type { Holder } from '../../domain/keys/api-key.ts';
import { endOf, isExpiringSoon, type KeyState, MAX_ACTIVE_KEYS } from '../../domain/keys/api-key.ts';
import type { KeyUsage } from '../../domain/keys/key-usage.ts';
import { maySeeKeysOfOthers, permissionsOf } from '../../domain/people/role.ts';
import { isId } from '../../domain/text.ts';
import {
  countKeysOf,
  findListedKey,
  findMovedKey,
  type KeyCounts,
  type KeyPosition,
  listActiveKeysMadeForOthers,
  listKeyRotations,
  listKeysMovedFrom,
  listKeysOf,
} from '../../store/keys/key-lists.ts';
import type { ListedKey } from '../../store/keys/key-row.ts';
import { type OperationUse, sumOperationUses } from '../../store/keys/operation-uses.ts';
import type { Database } from '../../store/sql/database.ts';
import type { Edge } from '../../store/sql/lists.ts';
import { getKeyAccess, type KeyAccess } from '../authority/keys.ts';
import { requireRight } from '../authority/rights.ts';
import { decodePosition, encodePosition, parseInstant, readListPage } from '../list-position.ts';
import { noSuchKey } from './key-rules.ts';

export type KeyDetails = ListedKey & {
  readonly holder: Holder;
  readonly state: KeyState;
  /** When the key expired or was rotated or revoked; `null` if the key is active. */
  readonly endedAt: Date | null;
  /** The name of the user who ended the key; `null` if no user ended it. */
  readonly endedBy: string | null;
  /** Whether the key is active, but refused because its integration is suspended. */
  readonly isSuspended: boolean;
  /** The permissions of the key that the holder's current role does not allow. */
  readonly beyondRole: readonly string[];
  /** Whether less than a fifth of the key's life is left, and the key expires within 30 days. */
  readonly isExpiringSoon: boolean;
};

/** A page of a list, the newest keys first. */
type KeyListPage<Key> = {
  readonly keys: readonly Key[];
  /** The `before` parameter of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** The `after` parameter of the next page; `null` on the last page. */
  readonly next: string | null;
};
type PageRequest = { after?: string | null; before?: string | null; now?: Date };

/** A page of a holder's keys. `counts` cover all pages of the list; `ended` is at most MAX_COUNTED_KEYS + 1. */
export type KeyList = KeyAccess &
  KeyListPage<KeyDetails> & {
    readonly counts: KeyCounts;
    /** The keys that were moved from the user to integrations, the last moved first, at most MAX_MOVED_KEYS. */
    readonly moved: readonly KeyDetails[];
  };

export const MAX_MOVED_KEYS = 20;

const PAGE_SIZE = 50;

/**
 * Lists the active or the ended keys of a holder, with what the actor may do with them. The first page takes three SQL queries,
 * and a fourth if keys were moved from the user.
 */
export async function listKeys(
  db: Database,
  actor: Actor,
  userId: string,
  { isActive = true, now = new Date(), ...request }: PageRequest & { isActive?: boolean } = {},
): Promise<KeyList> {
  const access = await getKeyAccess(db, actor, userId);
  const { hasMoved, ...counts } = await countKeysOf(db, actor.scope, { userId, now });
  const page = await readPage(
    request,
    (from, limit) => listKeysOf(db, actor.scope, { userId, isActive, now, from, limit }),
    (key) => detailsOf(key, now),
  );
  const moved = hasMoved ? await listKeysMovedFrom(db, actor.scope, { userId, limit: MAX_MOVED_KEYS }) : [];
  return { ...access, ...page, counts, moved: moved.map((key) => detailsOf(key, now)) };
}

export async function countActiveKeys(
  db: Database,
  { scope }: Actor,
  { access, now }: { access: KeyAccess; now: Date },
): Promise<number> {
  return (await countKeysOf(db, scope, { userId: access.holder.id, now })).active;
}

/** Returns a key of a holder, and what the actor may do with it. Throws "not_found" if there is no such key. */
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

/** Returns a key of a holder, read by two SQL queries, or `null` if there is no such key. */
export async function findKey(
  db: Database,
  actor: Actor,
  { userId, keyId, now }: { userId: string; keyId: string; now: Date },
): Promise<KeyDetails | null> {
  if (!isId(userId) || !isId(keyId)) return null;
  await getKeyAccess(db, actor, userId);
  const found = await findListedKey(db, actor.scope, { userId, id: keyId });
  return found === null ? null : detailsOf(found, now);
}

/** Lists the active keys of a holder in one SQL query, the newest first. There are at most MAX_ACTIVE_KEYS. */
export async function listActiveKeys(
  db: Database,
  actor: Actor,
  { userId, now }: { userId: string; now: Date },
): Promise<readonly KeyDetails[]> {
  if (actor.userId !== userId) requireRight(actor, 'see keys of others');
  const query = { userId, isActive: true, now, from: null, limit: MAX_ACTIVE_KEYS };
  return (await listKeysOf(db, actor.scope, query)).map((key) => detailsOf(key, now));
}

export type KeysMadeForOthers = KeyListPage<KeyDetails>;

/**
 * Lists the active keys that this user created for others, the newest first. The user has seen these keys, so they should be
 * reviewed when the user leaves.
 */
export async function listKeysMadeForOthers(
  db: Database,
  actor: Actor,
  userId: string,
  { now = new Date(), ...request }: PageRequest = {},
): Promise<KeysMadeForOthers> {
  requireRight(actor, 'see keys of others');
  await getKeyAccess(db, actor, userId);
  return readPage(
    request,
    (from, limit) => listActiveKeysMadeForOthers(db, actor.scope, { userId, now, from, limit }),
    (key) => detailsOf(key, now),
  );
}

async function readPage<Key extends KeyDetails>(
  { after = null, before = null }: Pick<PageRequest, 'after' | 'before'>,
  read: (from: Edge<KeyPosition> | null, limit: number) => Promise<ListedKey[]>,
  details: (key: ListedKey) => Key,
): Promise<KeyListPage<Key>> {
  const window = { after: positionOf(after), before: positionOf(before), size: PAGE_SIZE };
  const { rows, previous, next } = await readListPage(window, read, ({ createdAt, id }) =>
    encodePosition(createdAt.toISOString(), id),
  );
  return { keys: rows.map(details), previous, next };
}

function positionOf(text: string | null): KeyPosition | null {
  const position = decodePosition(text);
  const [instant = ''] = position?.parts ?? [];
  const createdAt = parseInstant(instant);
  return position === null || createdAt === undefined ? null : { createdAt, id: position.id };
}

export function detailsOf(key: ListedKey, now: Date): KeyDetails {
  const end = endOf(key, now);
  const enders = { rotated: key.rotatedBy, revoked: key.revokedBy, expired: null };
  return {
    ...key,
    holder: { id: key.holderId, kind: key.holderKind, name: key.holderName, email: key.holderEmail },
    state: end?.kind ?? 'active',
    isSuspended: end === null && key.holderDeactivatedAt !== null,
    beyondRole: key.permissions.filter((each) => !permissionsOf(key.holderRole).some((allowed) => allowed === each)),
    endedAt: end?.at ?? null,
    endedBy: end === null ? null : enders[end.kind],
    isExpiringSoon: end === null && isExpiringSoon(key, now),
  };
}

export type KeyWithRotations = KeyAccess & {
  readonly kind: 'found';
  readonly key: KeyDetails;
  readonly usage: KeyUsage;
  readonly byOperation: readonly OperationUse[];
  /** The keys that came before this key in the chain of rotations, the oldest first, at most MAX_STEPS. */
  readonly earlier: readonly KeyDetails[];
  /** The keys that came after this key in the chain of rotations, the oldest first, at most MAX_STEPS. */
  readonly later: readonly KeyDetails[];
};

/** The result for a key that was moved from the user to the integration `holder`, if the actor may see the integration's keys. */
export type MovedKey = { readonly kind: 'moved'; readonly holder: Holder };

/**
 * Returns a key of a holder with its number of requests and the keys of its chain of rotations, read by two SQL queries. Throws
 * "not_found" if there is no such key.
 */
export async function getKeyWithRotations(
  db: Database,
  actor: Actor,
  { userId, keyId, now }: { userId: string; keyId: string; now: Date },
): Promise<KeyWithRotations | MovedKey> {
  const access = await getKeyAccess(db, actor, userId);
  if (!isId(keyId)) throw noSuchKey();
  const { keys: rows, usage } = await listKeyRotations(db, actor.scope, { userId, id: keyId, now });
  const asked = rows.find(({ step }) => step === 0);
  if (asked === undefined) return getMovedKey(db, actor, { userId, id: keyId });
  return {
    kind: 'found',
    ...access,
    key: detailsOf(asked, now),
    usage,
    byOperation: await sumOperationUses(db, actor.scope, { now, keyIds: [keyId] }),
    earlier: rows.filter(({ step }) => step < 0).map((row) => detailsOf(row, now)),
    later: rows.filter(({ step }) => step > 0).map((row) => detailsOf(row, now)),
  };
}

async function getMovedKey(db: Database, actor: Actor, key: { userId: string; id: string }): Promise<MovedKey> {
  const moved = await findMovedKey(db, actor.scope, key);
  // Without this check, the former holder could learn to which integration the key was moved.
  if (moved === null || (moved.holderOwnerId !== actor.userId && !maySeeKeysOfOthers(actor.role))) throw noSuchKey();
  const { holderId: id, holderKind, holderName: name, holderEmail: email } = moved;
  return { kind: 'moved', holder: { id, kind: holderKind, name, email } };
}
