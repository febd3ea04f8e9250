import type { Caller } from '../../domain/audit/actor.ts';
import { DomainError, invalidField } from '../../domain/errors.ts';
import {
  bytesOfPosition,
  FEED_START,
  positionAt,
  positionBefore,
  positionIn,
} from '../../domain/resources/event-position.ts';
import { EVENT_TYPES, permissionsToRead } from '../../domain/resources/events.ts';
import { type EventList, findEvent, listEvents } from '../../store/resources/events.ts';
import type { Database } from '../../store/sql/database.ts';
import { requirePermission } from '../authenticate.ts';

/** The members of the caller that are needed to read events. */
type Reader = Pick<Caller, 'scope' | 'permissions'>;

export type FeedQuery = {
  /** The position in the cursor of an earlier page; `null` for the first page. */
  readonly after: Buffer | null;
  /** The time at which the first page begins. If it is `undefined`, the page begins with the oldest event that is kept. */
  readonly since: Date | undefined;
  /** The type of the events to read. If it is `undefined`, events of every type that the key may read. */
  readonly type: string | undefined;
  /** The maximum number of events on a page, from 1 to 100. */
  readonly limit: number;
};

export type FeedPage = {
  readonly events: EventList['events'];
  readonly version: string;
  /**
   * The position where the next page starts: after the last event of this page or, at the end of the feed, after all present
   * events, but not before `since`.
   */
  readonly position: Buffer;
  /** Whether the feed already has events after this page. */
  readonly hasMore: boolean;
};

/**
 * Reads the events after a position. The events are in the order of their commits, so no event is inserted before that position
 * later. Throws "invalid" if an event after the position is no longer kept, because the reader would otherwise miss the event
 * without noticing, and "forbidden" if the key may not read the type.
 */
export async function readFeed(
  db: Database,
  { scope, permissions }: Reader,
  { after, since, type, limit }: FeedQuery,
): Promise<FeedPage> {
  const start = after === null ? startAt(since) : positionIn(after);
  const query = { after: start ?? FEED_START, types: typesToRead(permissions, type), limit: limit + 1 };
  const { events, version, deletedTo } = await listEvents(db, scope, query);
  if (start !== null && deletedTo !== null && start < deletedTo) throw tooOld(after === null ? 'since' : 'cursor');
  const shown = events.slice(0, limit);
  const last = events.length > limit ? shown.at(-1) : undefined;
  const end = endOfFeed(version, deletedTo);
  return {
    events: shown,
    version,
    position: bytesOfPosition(last?.id ?? (start !== null && start > end ? start : end)),
    hasMore: last !== undefined,
  };
}

function startAt(since: Date | undefined): string | null {
  return since === undefined ? null : positionBefore(since);
}

/**
 * Returns the position after all events: that of the organization's version, or `deletedTo` if that is later. `deletedTo` can be
 * later only from the migration that introduced the feed until the organization's next change.
 */
function endOfFeed(version: string, deletedTo: string | null): string {
  const end = positionAt(version);
  return deletedTo !== null && deletedTo > end ? deletedTo : end;
}

const REMEDY =
  'Read all parent programs again. Then read events without a cursor, with since set to a time shortly before you began.';

function tooOld(parameter: 'cursor' | 'since'): DomainError {
  return invalidField(parameter, `is older than the oldest event that is kept, so events are missing. ${REMEDY}`);
}

/**
 * Returns the types of events that the key may read, or `undefined` if it may read all types. Throws if the key may not read the
 * wanted type.
 */
function typesToRead(permissions: readonly string[], type: string | undefined): readonly string[] | undefined {
  if (type !== undefined) {
    requirePermission(permissions, permissionsToRead(type));
    return [type];
  }
  const types = EVENT_TYPES.filter((each) => permissionsToRead(each).every((needed) => permissions.includes(needed)));
  return types.length === EVENT_TYPES.length ? undefined : types;
}

/** Returns an event. Throws if the organization has no such event, the event is no longer kept, or the key may not read it. */
export async function getEvent(db: Database, { scope, permissions }: Reader, id: string) {
  const found = await findEvent(db, scope, id);
  if (found === null) throw new DomainError('not_found', 'There is no event with this id.');
  requirePermission(permissions, permissionsToRead(found.type));
  return found;
}
