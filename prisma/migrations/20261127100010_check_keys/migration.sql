-- AlterTable
-- Every existing key is checked soon.
ALTER TABLE "api_keys" ADD COLUMN     "is_unused" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "next_check_at" TIMESTAMPTZ(3) DEFAULT '1970-01-01 00:00:00 +00:00';

-- By hand: a change of the expiry, by the dashboard, an earlier version or an operator's SQL, and a move call for another check.
CREATE FUNCTION "check_key_soon"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."next_check_at" := '1970-01-01 00:00:00 +00:00';
  RETURN NEW;
END
$$;
CREATE TRIGGER "api_keys_check_soon" BEFORE UPDATE OF "expires_at", "user_id" ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION "check_key_soon"();
