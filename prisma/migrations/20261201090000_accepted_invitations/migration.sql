-- AlterTable
ALTER TABLE "users" ADD COLUMN     "has_accepted" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "sso_sign_ins" ADD COLUMN     "claims" JSONB;

-- By hand: it is validated once the rows of an earlier version are right (src/postgres/complete-migrations.ts).
ALTER TABLE "users" ADD CONSTRAINT "users_has_accepted_check" CHECK ("has_accepted" OR "password_hash" IS NULL) NOT VALID;

-- By hand, all that follows: a person with a way to sign in has accepted. Triggers, so that no write can omit it, one of a server
-- of the previous version included. From then on, the e-mail is theirs alone.
CREATE FUNCTION "accept_with_password"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."has_accepted" := true;
  RETURN NEW;
END
$$;
CREATE TRIGGER "users_accept" BEFORE UPDATE ON "users"
  FOR EACH ROW WHEN (NEW."password_hash" IS NOT NULL AND NOT NEW."has_accepted") EXECUTE FUNCTION "accept_with_password"();

CREATE FUNCTION "accept_with_way_in"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "users" SET "has_accepted" = true
  WHERE "organization_id" = NEW."organization_id" AND "id" = NEW."user_id" AND NOT "has_accepted";
  RETURN NULL;
END
$$;
CREATE TRIGGER "sso_identities_accept" AFTER INSERT ON "sso_identities"
  FOR EACH ROW EXECUTE FUNCTION "accept_with_way_in"();
CREATE TRIGGER "passkeys_accept" AFTER INSERT ON "passkeys"
  FOR EACH ROW EXECUTE FUNCTION "accept_with_way_in"();
