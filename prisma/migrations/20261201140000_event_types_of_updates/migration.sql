-- By hand, all of it: an update can have an event of a type of its own. "kind_of_update" is an SQL expression of a row before the
-- update, b, and after it, a. It has the end of the event's type, such as 'archived', or null for 'updated'. The triggers of the
-- tables stay as they are.

DROP FUNCTION "record_events_of"(regclass, text);

CREATE FUNCTION "record_events_of"("of_table" regclass, "type_prefix" text, "kind_of_update" text DEFAULT 'NULL') RETURNS void LANGUAGE plpgsql AS $record$
DECLARE
  "shown" text;
  "record" CONSTANT text := 'INSERT INTO "events" ("organization_id", "id", "type", "timestamp", "data")
    SELECT p."organization_id", "event_id"(v."version", coalesce(c."place"::bigint, row_number() OVER ())), p."type_of_event",
      "event_timestamp"(v."version"), (SELECT row_to_json(shown) FROM (SELECT %s) shown)
    FROM (%s) p JOIN "organizations" o ON o."id" = p."organization_id"
    CROSS JOIN LATERAL (
      SELECT CASE WHEN "places_in_batch" IS NULL THEN o."version" ELSE "version_of_batch"(o."version") END) v ("version")
    LEFT JOIN jsonb_each_text("places_in_batch") c ("id", "place") ON c."id" = p."id"::text;';
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
    DECLARE
      "places_in_batch" CONSTANT jsonb := nullif(current_setting(''charter.places_in_batch'', true), '''')::jsonb;
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
      SELECT CASE WHEN b."id" IS NULL THEN %1$L ELSE coalesce(%4$L || (%5$s), %2$L) END, a.*
        FROM "after" a LEFT JOIN "before" b ON b."organization_id" = a."organization_id" AND b."id" = a."id"
        WHERE b IS DISTINCT FROM a', "type_prefix" || '.created', "type_prefix" || '.updated', "type_prefix" || '.deleted',
      "type_prefix" || '.', "kind_of_update")),
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
