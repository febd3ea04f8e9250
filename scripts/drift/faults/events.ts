import type { Fault } from '../fault.ts';

const EVENTS = 'prisma/migrations/20261123042000_events/migration.sql';
const EVENTS_OF_A_TABLE = 'prisma/migrations/20261125000000_events_of_a_table/migration.sql';
const STORE = 'src/store/events.ts';
const SERVICE = 'src/service/resources/events.ts';

/** Faults in the feed: an event is missing, untrue, out of order or of another organization. */
export const EVENT_FAULTS: readonly Fault[] = [
  {
    title: 'the ids of events are in the order of their creation, not of the commits',
    edits: [
      {
        file: EVENTS_OF_A_TABLE,
        find: '"event_id"(o."version", row_number() OVER ())',
        replace: '"event_id"((extract(epoch FROM now()) * 1000000)::bigint, row_number() OVER ())',
      },
    ],
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'events are numbered before their organization is locked',
    edits: [
      {
        file: EVENTS_OF_A_TABLE,
        find: "|| '_write_events_' ||",
        replace: "|| '_events_' ||",
      },
    ],
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'a deletion has no event',
    edits: [
      {
        file: EVENTS_OF_A_TABLE,
        find: `format('SELECT %L AS "type_of_event", b.* FROM "before" b'`,
        replace: `format('SELECT %L AS "type_of_event", b.* FROM "before" b WHERE false'`,
      },
    ],
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'TRUNCATE has no events',
    edits: [
      {
        file: EVENTS_OF_A_TABLE,
        find: 'AS "type_of_event", t.* FROM %s t\'',
        replace: 'AS "type_of_event", t.* FROM %s t WHERE false\'',
      },
    ],
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'an update that changes nothing has an event',
    edits: [{ file: EVENTS_OF_A_TABLE, find: 'WHERE b IS DISTINCT FROM a', replace: 'WHERE true' }],
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'a row that moves has no deletion where it was',
    edits: [
      {
        file: EVENTS_OF_A_TABLE,
        find: 'WHERE NOT EXISTS (SELECT FROM "after" a WHERE a."organization_id" = b."organization_id" AND a."id" = b."id")',
        replace: 'WHERE NOT EXISTS (SELECT FROM "after" a WHERE a."id" = b."id")',
      },
    ],
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'the data of a deletion lack a field',
    edits: [
      {
        file: EVENTS_OF_A_TABLE,
        find: `AND "attname" <> 'organization_id'`,
        replace: `AND "attname" NOT IN ('organization_id', 'external_id')`,
      },
    ],
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: "the feed has another organization's events",
    edits: [
      {
        file: STORE,
        find: 'where organization_id = $1 and ${conditions}',
        replace: 'where $1::uuid is not null and ${conditions}',
      },
    ],
    caughtBy: 'test/contract/two-organizations.test.ts',
  },
  {
    title: 'an event of another organization can be read by its id',
    edits: [
      {
        file: STORE,
        find: 'from events where organization_id = $1 and id = $2) found',
        replace: 'from events where $1::uuid is not null and id = $2) found',
      },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'the cursor of the last page is that of its last event',
    edits: [
      {
        file: SERVICE,
        find: 'last?.id ?? (start !== null && start > end ? start : end)',
        replace: 'last?.id ?? shown.at(-1)?.id ?? query.after',
      },
    ],
    caughtBy: 'test/api/feed.test.ts',
  },
  {
    title: 'a cursor skips deleted events without a word',
    edits: [
      {
        file: SERVICE,
        find: "  if (start !== null && deletedTo !== null && start < deletedTo) throw tooOld(after === null ? 'since' : 'cursor');\n",
        replace:
          "  if (start !== null && deletedTo !== null && start < '') throw tooOld(after === null ? 'since' : 'cursor');\n",
      },
    ],
    caughtBy: 'test/api/feed.test.ts',
  },
  {
    title: 'a deletion of events leaves the feed in the response cache',
    edits: [
      {
        file: EVENTS,
        find: 'CREATE TRIGGER "events_version_delete" AFTER DELETE ON "events"\n  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE',
        replace:
          'CREATE TRIGGER "events_version_delete" AFTER DELETE ON "events"\n  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT WHEN (false) EXECUTE',
      },
    ],
    caughtBy: 'test/contract/cached-tables.test.ts',
  },
];
