-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "moved_at" TIMESTAMPTZ(3),
ADD COLUMN     "moved_from_user_id" UUID;

ALTER TABLE "api_keys"
  ADD CONSTRAINT "api_keys_moved_check" CHECK (("moved_at" IS NULL) = ("moved_from_user_id" IS NULL)) NOT VALID;

-- By hand: a move changes whose role limits the key, so it takes the lock of the organization, too.
CREATE OR REPLACE TRIGGER "api_keys_lock_organization"
  BEFORE UPDATE OF "permissions", "expires_at", "expired_at", "rotated_at", "revoked_at", "user_id" ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION "lock_organization"();
