import { NIL } from 'uuid';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { positionBefore } from '../../domain/resources/event-position.ts';
import type { EventResource } from '../../domain/resources/events.ts';
import { DAY_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database } from '../sql/database.ts';
import { rfc3339 } from '../sql/values.ts';
import { AS_TEXT, MAX_ROWS } from './list.ts';
import { type InitialValues, ORGANIZATION_VERSION, type Stored, type Table, valueOfNewField } from './table.ts';
import { PARENT_PROGRAMS } from './tables/parent-programs.ts';

export type EventQuery = {
  /** The list has only events after this position (event-position.ts). */
  readonly after: string;
  /** `undefined` for every type. */
  readonly types: readonly string[] | undefined;
  /** Maximum number of events, 1 to 101. */
  readonly limit: number;
};

export type ListedEvent = {
  readonly id: string;
  /** The event as the contract shows it. */
  readonly json: string;
};

/** All members are read from one snapshot. */
export type EventList = {
  /** The events in the order of the commits. */
  readonly events: readonly ListedEvent[];
  /** The version of the organization. Every later event has a higher one. */
  readonly version: string;
  /** The last event that is no longer kept; `null` if all are kept. */
  readonly deletedTo: string | null;
};

type EventRow = { readonly version: string; readonly deletedTo: string | null } & (
  | ListedEvent
  | { readonly id: null; readonly json: null }
);

/** The events of the organization after a position. */
export async function listEvents(
  db: Database,
  { organizationId }: OrganizationScope,
  { after, types, limit }: EventQuery,
): Promise<EventList> {
  const { rows } = await db.pool.query<EventRow>({
    ...(types === undefined ? LIST : LIST_OF_TYPES),
    values: [organizationId, after, limit, ...(types === undefined ? [] : [types])],
    types: AS_TEXT,
  });
  const [first] = rows;
  if (first === undefined) throw new Error('The organization does not exist.');
  const events = rows.flatMap(({ id, json }) => (id === null ? [] : [{ id, json: eventOf(json) }]));
  return { events, version: first.version, deletedTo: first.deletedTo };
}

/**
 * The result has one row for each event, or one row without an event. The constant limit keeps the plan of the prepared statement
 * good, as `MAX_ROWS` explains.
 */
function listText(events: string): string {
  return `
    select organizations.version, events_deleted_to as "deletedTo", listed.id, row_to_json(listed) as json
    from organizations left join lateral (
      select * from (${events}) page order by id limit $3
    ) listed on true
    where organizations.id = $1 order by listed.id`;
}

const LIST = {
  name: 'list_events',
  text: listText(`
        select id, type, "timestamp", data from events
        where organization_id = $1 and id > $2 order by id limit ${MAX_ROWS}`),
};
/** A range of each type, in an order that only the index with the type has: few events of a type may be among many others. */
const LIST_OF_TYPES = {
  name: 'list_events_of_types',
  text: listText(`
        select found.* from unnest($4::text[]) as wanted (type) cross join lateral (
          select id, type, "timestamp", data from events
          where organization_id = $1 and (type, id) > (wanted.type, $2::uuid) and type <= wanted.type
          order by type, id limit ${MAX_ROWS}) found`),
};

const FIND = {
  name: 'find_event',
  text: `
    select type, row_to_json(found) as json, ${ORGANIZATION_VERSION} as version
    from (select id, type, "timestamp", data from events where organization_id = $1 and id = $2) found`,
};

/** `json` is the event as the contract shows it, and `version` the organization's, from the same snapshot. */
type FoundEvent = { readonly type: string; readonly json: string; readonly version: string };

/** Returns `null` if there is none. */
export async function findEvent(
  db: Database,
  { organizationId }: OrganizationScope,
  id: string,
): Promise<FoundEvent | null> {
  const { rows } = await db.pool.query<FoundEvent>({
    ...FIND,
    values: [organizationId, id],
    types: AS_TEXT,
  });
  const [found] = rows;
  return found === undefined ? null : { ...found, json: eventOf(found.json) };
}

/** The tables whose rows are the data of events. */
export const EVENT_TABLES: Readonly<Record<EventResource, InitialValues & Pick<Table<Stored>, 'name' | 'columns'>>> = {
  parent_program: PARENT_PROGRAMS,
};
const TABLES = new Map(
  Object.entries(EVENT_TABLES).map(([resource, table]) => [resource, { table, fields: Object.keys(table.columns) }]),
);

const TYPE = '","type":"';
const TIMESTAMP = '","timestamp":"';
const DATA = '","data":';
const CREATED = ',"created_at":"';

/**
 * The event as the contract shows it: its timestamp is RFC 3339, as those in `data` are, and `data` has the fields that the table
 * did not have yet when the event was written. No member before `data` holds free text.
 */
export function eventOf(json: string): string {
  const type = json.indexOf(TYPE) + TYPE.length;
  const time = json.indexOf(TIMESTAMP, type) + TIMESTAMP.length;
  const data = json.indexOf(DATA, time);
  const shown = `${json.slice(0, time)}${rfc3339(json.slice(time, data))}`;
  const { table, fields = [] } = TABLES.get(json.slice(type, json.indexOf('.', type))) ?? {};
  // jsonb writes its members with a space after the comma, and in a string the quotation marks are escaped.
  const missing = table === undefined ? [] : fields.filter((field) => !json.includes(`,"${field}":`, data));
  if (table === undefined || missing.length === 0) return `${shown}${json.slice(data)}`;
  const added = missing.map((field) => `,"${field}":${JSON.stringify(valueOfNewField(table, field))}`);
  const end = json.lastIndexOf(CREATED);
  return `${shown}${json.slice(data, end)}${added.join('')}${json.slice(end)}`;
}

/** Deletes events older than so many days of all organizations, in chunks. Returns how many. */
export async function deleteExpiredEvents(db: Database, deletion: Deletion, retentionDays: number): Promise<number> {
  const cutoff = new Date(deletion.now.getTime() - retentionDays * DAY_MS);
  const end = positionBefore(cutoff);
  // Organization by organization, along the primary key: an index by time alone would slow down every write. The timestamp
  // counts too, because the demonstration has a new event with an old id. A chunk goes on with the last organization of the
  // chunk before it, which may have more.
  let from: string = NIL;
  return deleteInChunks(deletion, async () => {
    const [chunk] = await db.prisma.$queryRaw<{ deleted: number; last: string | null }[]>`
      with expired as materialized (
        select oldest.organization_id, oldest.id from organizations cross join lateral (
          select organization_id, id from events
          where organization_id = organizations.id and id <= ${end}::uuid and "timestamp" < ${cutoff}
          order by id limit ${CHUNK_ROWS}::int
          for update skip locked
        ) oldest
        where organizations.id >= ${from}::uuid order by organizations.id limit ${CHUNK_ROWS}::int),
      deleted as (
        delete from events using expired
        where events.organization_id = expired.organization_id and events.id = expired.id
        returning events.organization_id)
      select count(*)::int as deleted, max(organization_id::text) as last from deleted`;
    from = chunk?.last ?? from;
    return chunk?.deleted ?? 0;
  });
}
