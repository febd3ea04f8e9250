-- By hand:
CREATE UNIQUE INDEX CONCURRENTLY "users_organization_id_email_key" ON "users"("organization_id", "email");
