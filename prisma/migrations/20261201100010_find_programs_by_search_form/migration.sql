-- By hand: the index of `search`. Servers of the previous version still use "parent_programs_search_idx": a migration of the
-- version after this one drops it.
CREATE INDEX CONCURRENTLY "parent_programs_search_form_idx" ON "parent_programs" USING GIN ("organization_id", "search_form"("name") gin_trgm_ops);
