-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "expired_at" TIMESTAMPTZ(3);

-- By hand: it ends a key, so its write takes the lock of the organization.
CREATE OR REPLACE TRIGGER "api_keys_lock_organization"
  BEFORE UPDATE OF "permissions", "expires_at", "expired_at", "rotated_at", "revoked_at" ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION "lock_organization"();

-- By hand: "key_of_write", which servers of the previous version call, with the column above and the time of the write. That
-- time is no earlier than the organization's version, which is later than every write before. So a client that lists what
-- changed since its last list misses no write that was made after the clock of PostgreSQL was set back.
CREATE FUNCTION "key_and_time_of_write"("of_organization_id" uuid, "key_id" uuid, "is_locked" boolean)
RETURNS TABLE (
  "organization_name" varchar, "suspended_at" timestamptz, "permissions" varchar[], "expires_at" timestamptz,
  "expired_at" timestamptz, "rotated_at" timestamptz, "revoked_at" timestamptz, "role" role, "deactivated_at" timestamptz,
  "time_of_write" timestamptz
) LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
BEGIN
  IF "is_locked" THEN
    PERFORM 1 FROM "organizations" o WHERE o."id" = "of_organization_id" FOR NO KEY UPDATE;
  END IF;
  RETURN QUERY
    SELECT o."name", o."suspended_at", k."permissions", k."expires_at", k."expired_at", k."rotated_at", k."revoked_at",
      u."role", u."deactivated_at", greatest(clock_timestamp(), to_timestamp(o."version" / 1000000.0))
    FROM "api_keys" k
    JOIN "users" u ON u."organization_id" = k."organization_id" AND u."id" = k."user_id"
    JOIN "organizations" o ON o."id" = k."organization_id"
    WHERE k."organization_id" = "of_organization_id" AND k."id" = "key_id";
END
$$;
