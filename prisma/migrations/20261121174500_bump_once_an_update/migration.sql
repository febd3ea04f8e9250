-- By hand: an update bumped its organization twice, for the rows as they are now and as they were.
CREATE FUNCTION "bump_versions_of_updated"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed_id uuid;
BEGIN
  -- A row that moves changes the organization that it leaves, too.
  FOR changed_id IN SELECT "organization_id" FROM "before" UNION SELECT "organization_id" FROM "after" ORDER BY 1 LOOP
    UPDATE "organizations" SET "version" = "version" WHERE "id" = changed_id; -- its own trigger counts
  END LOOP;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER "parent_programs_version_update" AFTER UPDATE ON "parent_programs"
  REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "bump_versions_of_updated"();
DROP TRIGGER "parent_programs_version_leave" ON "parent_programs";
