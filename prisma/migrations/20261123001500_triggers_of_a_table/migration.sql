-- By hand: the triggers of a table behind a cached response, in one statement of its migration.
CREATE FUNCTION "bump_versions_with"("changing" regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  kind text[];
BEGIN
  FOREACH kind SLICE 1 IN ARRAY ARRAY[
    ['insert', 'REFERENCING NEW TABLE AS "changed"', 'bump_versions_of_changed'],
    ['update', 'REFERENCING OLD TABLE AS "before" NEW TABLE AS "after"', 'bump_versions_of_updated'],
    ['delete', 'REFERENCING OLD TABLE AS "changed"', 'bump_versions_of_changed'],
    ['truncate', '', 'bump_every_version']
  ] LOOP
    EXECUTE format('CREATE TRIGGER "%s_version_%s" AFTER %s ON "%s" %s FOR EACH STATEMENT EXECUTE FUNCTION "%s"()',
      "changing", kind[1], kind[1], "changing", kind[2], kind[3]);
    -- Also where other triggers are silent: tools that copy data set session_replication_role to replica.
    EXECUTE format('ALTER TABLE "%s" ENABLE ALWAYS TRIGGER "%s_version_%s"', "changing", "changing", kind[1]);
  END LOOP;
END
$$;
