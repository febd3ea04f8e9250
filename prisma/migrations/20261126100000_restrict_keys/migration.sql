-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "allowed_addresses" VARCHAR(43)[] NOT NULL DEFAULT ARRAY[]::VARCHAR(43)[],
ADD COLUMN     "requests_per_second" INTEGER,
ADD COLUMN     "used_networks" JSONB NOT NULL DEFAULT '{}';

ALTER TABLE "api_keys"
  ADD CONSTRAINT "api_keys_allowed_addresses_check" CHECK (cardinality("allowed_addresses") <= 50) NOT VALID,
  ADD CONSTRAINT "api_keys_requests_per_second_check" CHECK ("requests_per_second" BETWEEN 1 AND 1000000) NOT VALID;

-- By hand: a list of addresses limits the key, so its change takes the lock of the organization, too.
CREATE OR REPLACE TRIGGER "api_keys_lock_organization"
  BEFORE UPDATE OF "permissions", "expires_at", "expired_at", "rotated_at", "revoked_at", "user_id", "allowed_addresses" ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION "lock_organization"();
