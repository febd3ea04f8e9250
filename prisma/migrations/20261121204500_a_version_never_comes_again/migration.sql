-- By hand: what was committed last can be lost, with a failover to a standby or a restore, while a process still has pages
-- of it in memory. A version that is no less than the time, in microseconds, is never given to other data later.
CREATE OR REPLACE FUNCTION "bump_organization_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."version" = greatest(OLD."version" + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  RETURN NEW;
END
$$;

-- Also where other triggers are silent: tools that copy data set session_replication_role to replica.
ALTER TABLE "organizations" ENABLE ALWAYS TRIGGER "organizations_version";
ALTER TABLE "parent_programs" ENABLE ALWAYS TRIGGER "parent_programs_version_insert";
ALTER TABLE "parent_programs" ENABLE ALWAYS TRIGGER "parent_programs_version_update";
ALTER TABLE "parent_programs" ENABLE ALWAYS TRIGGER "parent_programs_version_delete";
ALTER TABLE "parent_programs" ENABLE ALWAYS TRIGGER "parent_programs_version_truncate";
