-- By hand: the keys that were moved from a user.
CREATE INDEX CONCURRENTLY "api_keys_moved_idx" ON "api_keys"("organization_id", "moved_from_user_id", "moved_at", "id")
  WHERE "moved_from_user_id" IS NOT NULL;
