-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "version" BIGINT NOT NULL DEFAULT 0;

-- By hand: nothing that writes can forget the version, raw SQL included.
CREATE FUNCTION "bump_organization_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."version" = OLD."version" + 1;
  RETURN NEW;
END
$$;
CREATE TRIGGER "organizations_version" BEFORE UPDATE ON "organizations"
  FOR EACH ROW EXECUTE FUNCTION "bump_organization_version"();

-- Once a statement and organization, however many rows it writes, in one order, so that no two wait for each other.
CREATE FUNCTION "bump_versions_of_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed_id uuid;
BEGIN
  FOR changed_id IN SELECT DISTINCT "organization_id" FROM "changed" ORDER BY 1 LOOP
    UPDATE "organizations" SET "version" = "version" WHERE "id" = changed_id; -- its own trigger counts
  END LOOP;
  RETURN NULL;
END
$$;
CREATE TRIGGER "parent_programs_version_insert" AFTER INSERT ON "parent_programs"
  REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "bump_versions_of_changed"();
CREATE TRIGGER "parent_programs_version_update" AFTER UPDATE ON "parent_programs"
  REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "bump_versions_of_changed"();
-- A row that moves changes the organization that it leaves, too.
CREATE TRIGGER "parent_programs_version_leave" AFTER UPDATE ON "parent_programs"
  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "bump_versions_of_changed"();
CREATE TRIGGER "parent_programs_version_delete" AFTER DELETE ON "parent_programs"
  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "bump_versions_of_changed"();

CREATE FUNCTION "bump_every_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "organizations" SET "version" = "version";
  RETURN NULL;
END
$$;
CREATE TRIGGER "parent_programs_version_truncate" AFTER TRUNCATE ON "parent_programs"
  FOR EACH STATEMENT EXECUTE FUNCTION "bump_every_version"();
