-- By hand: in the order in which a write locks them, so that the migration and a write cannot wait for each other. A creation
-- locks its idempotency key first, then the organization by the foreign key, then parent_programs. Other writes lock
-- parent_programs before organizations.
LOCK TABLE "idempotency_keys", "parent_programs", "organizations" IN ACCESS EXCLUSIVE MODE;

-- AlterTable
-- By hand: the changes before this migration have no events, as if these had been deleted.
ALTER TABLE "organizations" ADD COLUMN     "events_deleted_to" UUID
  DEFAULT (lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;
ALTER TABLE "organizations" ALTER COLUMN "events_deleted_to" DROP DEFAULT;

-- CreateTable
CREATE TABLE "events" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "type" VARCHAR(50) NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    -- By hand: JSON, not JSONB, so that the fields keep the order of the contract.
    "data" JSON NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE INDEX "events_organization_id_type_id_idx" ON "events"("organization_id", "type", "id");

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- By hand: the id of an event, a UUID of version 7 (RFC 9562). Its time, in microseconds, is the version that the organization
-- has after the change, and next comes the number of the event within the statement. A change increases the version before its
-- events are written, and holds the lock of the organization's row until it is committed. So within an organization, ids
-- increase in the order of the commits, and no event can appear with an id below one that was already visible.
CREATE FUNCTION "event_id"("version" bigint, "number" bigint) RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex("version" / 1000), 12, '0') || '7' || lpad(to_hex("version" % 1000), 3, '0')
    || '8' || lpad(to_hex("number"), 7, '0') || right(gen_random_uuid()::text, 8))::uuid
$$;

-- By hand: rounded up to milliseconds, because `created_at` and `updated_at` are rounded, and an event is not earlier.
CREATE FUNCTION "event_timestamp"("version" bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT to_timestamp(("version" + 999) / 1000 / 1000.0)
$$;

-- By hand: a parent program as the contract shows it.
CREATE FUNCTION "event_data"(
  "id" uuid, "name" varchar, "description" varchar, "external_id" varchar, "metadata" jsonb,
  "created_at" timestamptz, "updated_at" timestamptz
) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(shown) FROM (
    SELECT "id", "name", "description", "external_id", "metadata",
      to_char("created_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "created_at",
      to_char("updated_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updated_at"
  ) shown
$$;

-- By hand: nothing that writes can forget the event, raw SQL included. PostgreSQL runs the triggers of a statement in the order
-- of their names, so these run after "parent_programs_version_...", which have locked the organizations and increased their
-- versions. They are silent where session_replication_role is replica: tools that copy data copy the events, too.
CREATE FUNCTION "write_events_of_created"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "events" ("organization_id", "id", "type", "timestamp", "data")
  SELECT p."organization_id", "event_id"(o."version", row_number() OVER ()), 'parent_program.created', "event_timestamp"(o."version"),
    "event_data"(p."id", p."name", p."description", p."external_id", p."metadata", p."created_at", p."updated_at")
  FROM "after" p JOIN "organizations" o ON o."id" = p."organization_id";
  RETURN NULL;
END
$$;

-- A row that moves to another organization or gets another id is deleted there and created here. A row that stays as it is has
-- no event.
CREATE FUNCTION "write_events_of_updated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "events" ("organization_id", "id", "type", "timestamp", "data")
  SELECT p."organization_id", "event_id"(o."version", row_number() OVER ()), p."type", "event_timestamp"(o."version"),
    "event_data"(p."id", p."name", p."description", p."external_id", p."metadata", p."created_at", p."updated_at")
  FROM (
    SELECT 'parent_program.deleted' AS "type", b.* FROM "before" b
      WHERE NOT EXISTS (SELECT FROM "after" a WHERE a."organization_id" = b."organization_id" AND a."id" = b."id")
    UNION ALL
    SELECT CASE WHEN b."id" IS NULL THEN 'parent_program.created' ELSE 'parent_program.updated' END, a.*
      FROM "after" a LEFT JOIN "before" b ON b."organization_id" = a."organization_id" AND b."id" = a."id"
      WHERE b IS DISTINCT FROM a
  ) p JOIN "organizations" o ON o."id" = p."organization_id";
  RETURN NULL;
END
$$;

CREATE FUNCTION "write_events_of_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "events" ("organization_id", "id", "type", "timestamp", "data")
  SELECT p."organization_id", "event_id"(o."version", row_number() OVER ()), 'parent_program.deleted', "event_timestamp"(o."version"),
    "event_data"(p."id", p."name", p."description", p."external_id", p."metadata", p."created_at", p."updated_at")
  FROM "before" p JOIN "organizations" o ON o."id" = p."organization_id";
  RETURN NULL;
END
$$;

-- Before the rows are gone. The table is locked, so none can be added meanwhile.
CREATE FUNCTION "write_events_of_truncated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "organizations" SET "version" = "version"; -- its own trigger counts
  INSERT INTO "events" ("organization_id", "id", "type", "timestamp", "data")
  SELECT p."organization_id", "event_id"(o."version", row_number() OVER ()), 'parent_program.deleted', "event_timestamp"(o."version"),
    "event_data"(p."id", p."name", p."description", p."external_id", p."metadata", p."created_at", p."updated_at")
  FROM "parent_programs" p JOIN "organizations" o ON o."id" = p."organization_id";
  RETURN NULL;
END
$$;

CREATE TRIGGER "parent_programs_write_events_insert" AFTER INSERT ON "parent_programs"
  REFERENCING NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "write_events_of_created"();
CREATE TRIGGER "parent_programs_write_events_update" AFTER UPDATE ON "parent_programs"
  REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "write_events_of_updated"();
CREATE TRIGGER "parent_programs_write_events_delete" AFTER DELETE ON "parent_programs"
  REFERENCING OLD TABLE AS "before" FOR EACH STATEMENT EXECUTE FUNCTION "write_events_of_deleted"();
CREATE TRIGGER "parent_programs_write_events_truncate" BEFORE TRUNCATE ON "parent_programs"
  FOR EACH STATEMENT EXECUTE FUNCTION "write_events_of_truncated"();

-- By hand: the feed is a cached response. An event that a trigger writes has a new version already.
CREATE TRIGGER "events_version_insert" AFTER INSERT ON "events"
  REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0)
  EXECUTE FUNCTION "bump_versions_of_changed"();
CREATE TRIGGER "events_version_update" AFTER UPDATE ON "events"
  REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "bump_versions_of_updated"();

-- By hand: a deletion of events records the last deleted event, so that a reader who missed it gets a 422.
CREATE FUNCTION "note_deleted_events"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  deleted record;
BEGIN
  FOR deleted IN
    SELECT DISTINCT ON ("organization_id") "organization_id", "id" FROM "changed" ORDER BY "organization_id", "id" DESC
  LOOP
    UPDATE "organizations" SET "events_deleted_to" = greatest("events_deleted_to", deleted."id")
      WHERE "id" = deleted."organization_id"; -- its own trigger counts
  END LOOP;
  RETURN NULL;
END
$$;
CREATE FUNCTION "note_truncated_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The highest number: after every event of this version.
  UPDATE "organizations" SET "events_deleted_to" = greatest("events_deleted_to", "event_id"("version", x'fffffff'::int)); -- its own trigger counts
  RETURN NULL;
END
$$;
CREATE TRIGGER "events_version_delete" AFTER DELETE ON "events"
  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "note_deleted_events"();
CREATE TRIGGER "events_version_truncate" AFTER TRUNCATE ON "events"
  FOR EACH STATEMENT EXECUTE FUNCTION "note_truncated_events"();

-- Also where other triggers are silent: tools that copy data set session_replication_role to replica.
ALTER TABLE "events" ENABLE ALWAYS TRIGGER "events_version_insert";
ALTER TABLE "events" ENABLE ALWAYS TRIGGER "events_version_update";
ALTER TABLE "events" ENABLE ALWAYS TRIGGER "events_version_delete";
ALTER TABLE "events" ENABLE ALWAYS TRIGGER "events_version_truncate";
