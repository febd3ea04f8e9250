-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "name_key" BYTEA;

-- CreateTable
CREATE TABLE "encryption_keys" (
    "id" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "encryption_keys_pkey" PRIMARY KEY ("id")
);

-- By hand: SQL cannot encrypt, nor compare names as Charter does. So the server does both at its next start, to the rows that
-- exist (src/postgres/complete-migrations.ts), and then validates the constraints. They hold for every new row from now on.
ALTER TABLE "users" DROP CONSTRAINT "users_totp_secret_check";
ALTER TABLE "users" ADD CONSTRAINT "users_totp_secret_check"
  CHECK (octet_length("totp_secret") = 57 AND get_byte("totp_secret", 0) = 1) NOT VALID;
ALTER TABLE "organizations" DROP CONSTRAINT "organizations_cursor_key_check";
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_cursor_key_check"
  CHECK (octet_length("cursor_key") = 69 AND get_byte("cursor_key", 0) = 1) NOT VALID;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_name_key_check"
  CHECK ("name_key" IS NOT NULL AND octet_length("name_key") = 32) NOT VALID;
ALTER TABLE "encryption_keys" ADD CONSTRAINT "encryption_keys_id_check" CHECK (octet_length("id") = 8);

-- By hand: a name is free again once its key is rotated or revoked.
DROP INDEX "api_keys_live_name_key";
CREATE UNIQUE INDEX "api_keys_live_name_key" ON "api_keys"("organization_id", "user_id", "name_key")
  WHERE "rotated_at" IS NULL AND "revoked_at" IS NULL;

-- By hand: no secret is encrypted with a key that the next process might lack. The lock makes a write wait for the removal of
-- its key, or the removal for the write.
CREATE FUNCTION "require_encryption_key"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  secret bytea = to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
  PERFORM 1 FROM "encryption_keys" WHERE "id" = substring(secret FROM 2 FOR 8) FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the encryption key of % is not among those of this database', TG_ARGV[0];
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER "users_encryption_key" BEFORE INSERT OR UPDATE OF "totp_secret" ON "users"
  FOR EACH ROW WHEN (NEW."totp_secret" IS NOT NULL) EXECUTE FUNCTION "require_encryption_key"('totp_secret');
CREATE TRIGGER "organizations_encryption_key" BEFORE INSERT OR UPDATE OF "cursor_key" ON "organizations"
  FOR EACH ROW EXECUTE FUNCTION "require_encryption_key"('cursor_key');
