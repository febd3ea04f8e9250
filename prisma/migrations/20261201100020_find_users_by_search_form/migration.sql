-- By hand: the index of searches for people. Servers of the previous version still use "users_search_idx": a migration of the
-- version after this one drops it.
CREATE INDEX CONCURRENTLY "users_search_form_idx" ON "users" USING GIN ("organization_id", "search_form"("name" || ' ' || "email") gin_trgm_ops);
