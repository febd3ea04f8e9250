-- By hand: the integrations that a person owns, and those of an organization.
CREATE INDEX CONCURRENTLY "users_owned_integrations_idx" ON "users"("organization_id", "owner_user_id")
  WHERE "owner_user_id" IS NOT NULL;
