import { DomainError, invalidField } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import {
  bytesOfPosition,
  FEED_START,
  positionAt,
  positionBefore,
  positionIn,
} from '../../domain/resources/event-position.ts';
import { type EventList, findEvent, listEvents } from '../../store/resources/events.ts';
import type { Database } from '../../store/sql/database.ts';

export type FeedQuery = {
  /** The position that the cursor of an earlier page holds; `null` for the first page. */
  readonly after: Buffer | null;
  /** The first page begins with the events of this time, or with the oldest kept event if it is omitted. */
  readonly since: Date | undefined;
  readonly type: string | undefined;
  /** 1 to 100. */
  readonly limit: number;
};

export type FeedPage = {
  readonly events: EventList['events'];
  readonly version: string;
  /**
   * Where the next page starts: after the last event of this page or, at the end of the feed, after all that exist now, but not
   * before `since`.
   */
  readonly position: Buffer;
  /** Whether there are more events now. */
  readonly hasMore: boolean;
};

/**
 * Reads the events after a position, in the order of their commits. No event appears later before the position of a page. Throws
 * "invalid" if an event after the position is no longer kept, so that no reader misses events without noticing.
 */
export async function readFeed(
  db: Database,
  scope: OrganizationScope,
  { after, since, type, limit }: FeedQuery,
): Promise<FeedPage> {
  const start = after === null ? startAt(since) : positionIn(after);
  const query = { after: start ?? FEED_START, type, limit: limit + 1 };
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
 * The position after all events. The version of an organization is older than `deletedTo` after the migration that introduced the feed,
 * until its next change.
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

/** Throws if the organization has no such event, or it is no longer kept. */
export async function getEvent(db: Database, scope: OrganizationScope, id: string) {
  const found = await findEvent(db, scope, id);
  if (found === null) throw new DomainError('not_found', 'There is no event with this id.');
  return found;
}
