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
  /** The position after which the events are listed (see event-position.ts). */
  readonly after: string;
  /** The types of the events; `undefined` for all types. */
  readonly types: readonly string[] | undefined;
  /** The maximum number of events, from 1 to 101. */
  readonly limit: number;
};

export type ListedEvent = {
  readonly id: string;
  /** The event as JSON in the form that the contract defines. */
  readonly json: string;
};

/** A page of events. All members are read from one snapshot. */
export type EventList = {
  /** The events in the order in which their transactions were committed. */
  readonly events: readonly ListedEvent[];
  /** The version of the organization. All later events have higher versions. */
  readonly version: string;
  /** The position of the last event that has been deleted; `null` if no event has been deleted. */
  readonly deletedTo: string | null;
};

type EventRow = { readonly version: string; readonly deletedTo: string | null } & (
  | ListedEvent
  | { readonly id: null; readonly json: null }
);

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
 * Returns SQL whose result has one row for each event, or a single row without an event. A constant limit keeps the plan of the
 * prepared statement efficient, as explained at `MAX_ROWS`.
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
/**
 * The query reads a range of the index on types for each type, because a type's few events may be scattered among many events of
 * other types. The order in the subquery prevents PostgreSQL from using another index.
 */
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

/** `json` is the event in the form that the contract defines, and `version` the organization's version from the same snapshot. */
type FoundEvent = { readonly type: string; readonly json: string; readonly version: string };

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
 * Returns the event in the form that the contract defines. Converts its timestamp to RFC 3339, like the timestamps in `data`, and
 * adds to `data` the fields that the table did not have yet when the event was written. Searching `json` for the names of members
 * is safe, because no member before `data` contains free text.
 */
export function eventOf(json: string): string {
  const type = json.indexOf(TYPE) + TYPE.length;
  const time = json.indexOf(TIMESTAMP, type) + TIMESTAMP.length;
  const data = json.indexOf(DATA, time);
  const shown = `${json.slice(0, time)}${rfc3339(json.slice(time, data))}`;
  const { table, fields = [] } = TABLES.get(json.slice(type, json.indexOf('.', type))) ?? {};
  // This pattern matches only the members of `data` itself, because jsonb writes a space after a comma, and quotation marks in
  // strings are escaped.
  const missing = table === undefined ? [] : fields.filter((field) => !json.includes(`,"${field}":`, data));
  if (table === undefined || missing.length === 0) return `${shown}${json.slice(data)}`;
  const added = missing.map((field) => `,"${field}":${JSON.stringify(valueOfNewField(table, field))}`);
  const end = json.lastIndexOf(CREATED);
  return `${shown}${json.slice(data, end)}${added.join('')}${json.slice(end)}`;
}

/**
 * Deletes in chunks, for all organizations, the events that are older than `retentionDays`. Returns the number of deleted events.
 */
export async function deleteExpiredEvents(db: Database, deletion: Deletion, retentionDays: number): Promise<number> {
  const cutoff = new Date(deletion.now.getTime() - retentionDays * DAY_MS);
  const end = positionBefore(cutoff);
  // Each chunk follows the primary key from organization to organization, because an index on the time alone would slow down
  // every write. The timestamp is also compared, because the demonstration has a new event with an old id. A chunk starts with
  // the last organization of the previous chunk, which may have more expired events.
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
