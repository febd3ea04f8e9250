-- By hand: the events of a table, in one statement of its migration, which comes after "bump_versions_with". The types of the
-- events begin with "type_prefix": 'parent_program' for parent_program.created. Call it again after a change of the table's
-- columns.
--
-- The data of an event are the row as the contract shows it: every column but the organization, in the order of the table, with
-- the times last. The function is written for the table, because PostgreSQL would plan a statement for any table at each write.
--
-- Nothing that writes can forget the event, raw SQL included. PostgreSQL runs the triggers of a statement in the order of their
-- names, so these run after "..._version_...", which have locked the organizations and increased their versions. They are silent
-- where session_replication_role is replica: tools that copy data copy the events, too.
CREATE FUNCTION "record_events_of"("of_table" regclass, "type_prefix" text) RETURNS void LANGUAGE plpgsql AS $record$
DECLARE
  "shown" text;
  "record" CONSTANT text := 'INSERT INTO "events" ("organization_id", "id", "type", "timestamp", "data")
    SELECT p."organization_id", "event_id"(o."version", row_number() OVER ()), p."type_of_event",
      "event_timestamp"(o."version"), (SELECT row_to_json(shown) FROM (SELECT %s) shown)
    FROM (%s) p JOIN "organizations" o ON o."id" = p."organization_id";';
  kind text[];
BEGIN
  SELECT string_agg(
    CASE WHEN "atttypid" = 'timestamptz'::regtype
      THEN format('to_char(p.%1$I AT TIME ZONE ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'') AS %1$I', "attname")
      ELSE format('p.%I', "attname") END,
    ', ' ORDER BY "attname" = 'updated_at', "attname" = 'created_at', "attnum")
  INTO "shown"
  FROM "pg_attribute"
  WHERE "attrelid" = "of_table" AND "attnum" > 0 AND NOT "attisdropped" AND "attname" <> 'organization_id';

  EXECUTE format('CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      IF TG_OP = ''INSERT'' THEN %s
      ELSIF TG_OP = ''UPDATE'' THEN %s
      ELSIF TG_OP = ''DELETE'' THEN %s
      ELSE UPDATE "organizations" SET "version" = "version"; -- its own trigger counts
        %s
      END IF;
      RETURN NULL;
    END
    $body$',
    'write_events_of_' || "of_table"::text,
    format("record", "shown", format('SELECT %L AS "type_of_event", a.* FROM "after" a', "type_prefix" || '.created')),
    -- A row that moves to another organization or gets another id is deleted there and created here. A row that stays as it is
    -- has no event.
    format("record", "shown", format('
      SELECT %3$L AS "type_of_event", b.* FROM "before" b
        WHERE NOT EXISTS (SELECT FROM "after" a WHERE a."organization_id" = b."organization_id" AND a."id" = b."id")
      UNION ALL
      SELECT CASE WHEN b."id" IS NULL THEN %1$L ELSE %2$L END, a.*
        FROM "after" a LEFT JOIN "before" b ON b."organization_id" = a."organization_id" AND b."id" = a."id"
        WHERE b IS DISTINCT FROM a', "type_prefix" || '.created', "type_prefix" || '.updated', "type_prefix" || '.deleted')),
    format("record", "shown", format('SELECT %L AS "type_of_event", b.* FROM "before" b', "type_prefix" || '.deleted')),
    -- TRUNCATE: before the rows are gone. The table is locked, so none can be added meanwhile.
    format("record", "shown", format('SELECT %L AS "type_of_event", t.* FROM %s t', "type_prefix" || '.deleted', "of_table")));

  FOREACH kind SLICE 1 IN ARRAY ARRAY[
    ['AFTER INSERT', 'insert', 'REFERENCING NEW TABLE AS "after"'],
    ['AFTER UPDATE', 'update', 'REFERENCING OLD TABLE AS "before" NEW TABLE AS "after"'],
    ['AFTER DELETE', 'delete', 'REFERENCING OLD TABLE AS "before"'],
    ['BEFORE TRUNCATE', 'truncate', '']
  ] LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER %I %s ON %s %s FOR EACH STATEMENT EXECUTE FUNCTION %I()',
      "of_table"::text || '_write_events_' || kind[2], kind[1], "of_table", kind[3], 'write_events_of_' || "of_table"::text);
  END LOOP;
END
$record$;

-- Replaces the triggers, for which it waits for writes in progress, but not for reads.
SELECT "record_events_of"('parent_programs', 'parent_program');

DROP FUNCTION "write_events_of_created"(), "write_events_of_updated"(), "write_events_of_deleted"(), "write_events_of_truncated"();
DROP FUNCTION "event_data"(uuid, varchar, varchar, varchar, jsonb, timestamptz, timestamptz);
