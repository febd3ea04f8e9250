import type { Actor } from '../domain/actor.ts';
import { hashKey } from '../domain/api-key.ts';
import type { Database } from '../store/database.ts';
import type { ListedKey } from '../store/key-lists.ts';
import {
  countOrganizationKeys,
  findOrganizationKeyByHash,
  type KeyCounts,
  type KeyFilters,
  listOrganizationKeys,
  type OrganizationKeyQuery,
} from '../store/organization-keys.ts';
import { refuseUnlessSeesOthers } from './key-access.ts';
import { type KeyWithHolder, withHolder } from './list-keys.ts';
import { decodePosition, encodePosition, parseInstant } from './list-position.ts';

export type { KeyFilters };

/** Where a list page starts or ends. At most one of the two is set. */
export type KeyListPosition = { readonly after: string | null; readonly before: string | null };

export type OrganizationKeyList = {
  readonly keys: readonly KeyWithHolder[];
  /** Of all list pages. */
  readonly counts: KeyCounts;
  /** `before` of the previous page; null: this is the first. */
  readonly previous: string | null;
  /** `after` of the next page; null: this is the last. */
  readonly next: string | null;
};

type Request = Pick<OrganizationKeyQuery, 'filters' | 'isActive' | 'isLatestFirst' | 'now'> & KeyListPosition;

const PAGE_SIZE = 50;

/** The keys of all users of the organization, without secrets, by their last use; for those who may see them. */
export async function listAllKeys(
  db: Database,
  actor: Actor,
  { after, before, ...query }: Request,
): Promise<OrganizationKeyList> {
  refuseUnlessSeesOthers(actor);
  const counts = await countOrganizationKeys(db, actor.scope, query);
  const read = (from: OrganizationKeyQuery['from']) =>
    listOrganizationKeys(db, actor.scope, { ...query, from, limit: PAGE_SIZE + 1 });
  const end = positionOf(before, 'before');
  const earlier = end === null ? [] : await read(end);
  const sources = { counts, now: query.now };
  if (earlier.length > PAGE_SIZE) return pageOf(earlier.slice(1), { ...sources, hasPrevious: true, hasNext: true });
  // With fewer rows, the previous list page is the first one, which is read from its start so that it is full.
  const start = end === null ? positionOf(after, 'after') : null;
  const found = await read(start);
  const hasNext = found.length > PAGE_SIZE;
  return pageOf(found.slice(0, PAGE_SIZE), { ...sources, hasPrevious: start !== null, hasNext });
}

type Surroundings = {
  readonly counts: KeyCounts;
  readonly now: Date;
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
};

function pageOf(rows: readonly ListedKey[], { counts, now, hasPrevious, hasNext }: Surroundings): OrganizationKeyList {
  const keys = rows.map((row) => withHolder(row, now));
  const [first, last] = [keys.at(0), keys.at(-1)];
  return {
    keys,
    counts,
    previous: hasPrevious && first !== undefined ? encode(first) : null,
    next: hasNext && last !== undefined ? encode(last) : null,
  };
}

function encode({ lastUsedAt, id }: KeyWithHolder): string {
  return encodePosition(lastUsedAt?.toISOString() ?? '', id);
}

function positionOf(text: string | null, side: 'after' | 'before'): OrganizationKeyQuery['from'] {
  const position = decodePosition(text);
  const [instant = ''] = position?.parts ?? [];
  if (position === null) return null;
  const lastUsedAt = instant === '' ? null : parseInstant(instant);
  return lastUsedAt === undefined ? null : { lastUsedAt, id: position.id, side };
}

/** The user of a key of the organization, and its id. Null: the organization has no such key. */
export async function findKeyOwner(
  db: Database,
  actor: Actor,
  key: string,
): Promise<{ readonly id: string; readonly userId: string } | null> {
  refuseUnlessSeesOthers(actor);
  return findOrganizationKeyByHash(db, actor.scope, hashKey(key));
}
