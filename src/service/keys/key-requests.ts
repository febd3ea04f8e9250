import type { Actor } from '../../domain/audit/actor.ts';
import { KEPT_REQUESTS } from '../../domain/keys/key-usage.ts';
import { DAY_MS } from '../../domain/time.ts';
import {
  type ListedRequest,
  listKeyRequests,
  type RequestFilters,
  type RequestPosition,
  type RequestSummary,
  summarizeKeyRequests,
} from '../../store/keys/key-requests.ts';
import type { Database } from '../../store/sql/database.ts';
import { requireRight } from '../authority/rights.ts';
import { decodePosition, eachPage, encodePosition, parseInstant, readListPage } from '../list-position.ts';
import type { KeyDetails } from './list-keys.ts';
import { listKeyIds } from './organization-keys.ts';

/** The key whose requests are read, or all keys of the organization. The caller ensures that the actor may see the key. */
export type RequestsOf = KeyDetails | 'all keys';

type RequestListPage = {
  readonly requests: readonly ListedRequest[];
  /** The `before` parameter of the previous page, which has newer requests; `null` on the first page. */
  readonly previous: string | null;
  /** The `after` parameter of the next page, which has older requests; `null` on the last page. */
  readonly next: string | null;
};

type Filters = Omit<RequestFilters, 'keyIds'> & {
  /** A part of the name or the prefix of the keys; empty for all keys. */
  readonly key: string;
};

const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 1000;

/** Lists the recorded requests with a key, or with all keys, that match the filters, the latest first. */
export async function listRequests(
  db: Database,
  actor: Actor,
  of: RequestsOf,
  { filters, now, ...position }: { filters: Filters; now: Date; after: string | null; before: string | null },
): Promise<RequestListPage & RequestSummary> {
  if (of === 'all keys') requireRight(actor, 'see keys of others');
  const page = await readPage(db, actor, { of, filters, ...position, size: PAGE_SIZE });
  const since = new Date(now.getTime() - KEPT_REQUESTS.days * DAY_MS);
  const keyId = of === 'all keys' ? null : of.id;
  return { ...page, ...(await summarizeKeyRequests(db, actor.scope, { keyId, since })) };
}

/** Yields all recorded requests that match the filters, the latest first, in chunks of at most 1,000. */
export function exportRequests(
  db: Database,
  actor: Actor,
  of: RequestsOf,
  filters: Filters,
): AsyncGenerator<readonly ListedRequest[], void, undefined> {
  if (of === 'all keys') requireRight(actor, 'see keys of others');
  return eachPage(async (after) => {
    const { requests, next } = await readPage(db, actor, { of, filters, after, before: null, size: EXPORT_PAGE_SIZE });
    return { rows: requests, next };
  });
}

type PageRequest = {
  readonly of: RequestsOf;
  readonly filters: Filters;
  readonly after: string | null;
  readonly before: string | null;
  readonly size: number;
};

async function readPage(
  db: Database,
  actor: Actor,
  { of, filters, after, before, size }: PageRequest,
): Promise<RequestListPage> {
  const keyIds = of !== 'all keys' ? [of.id] : await listKeyIds(db, actor, filters.key);
  const { rows, previous, next } = await readListPage(
    { after: positionOf(after), before: positionOf(before), size },
    (from, limit) => listKeyRequests(db, actor.scope, { filters: { ...filters, keyIds }, from, limit }),
    ({ at, requestId }) => encodePosition(at.toISOString(), requestId),
  );
  return { requests: rows, previous, next };
}

function positionOf(text: string | null): RequestPosition | null {
  const position = decodePosition(text);
  const [instant = ''] = position?.parts ?? [];
  const at = parseInstant(instant);
  return position === null || at === undefined ? null : { at, id: position.id };
}
