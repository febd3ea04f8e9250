-- By hand: the keys of all organizations that are to be checked, by time.
CREATE INDEX CONCURRENTLY "api_keys_check_idx" ON "api_keys"("next_check_at")
  WHERE "next_check_at" IS NOT NULL AND "rotated_at" IS NULL AND "revoked_at" IS NULL;
