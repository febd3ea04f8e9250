-- By hand: finds the rows of a period of creation that changed since an instant (src/store/parent-program-changes.ts).
-- CONCURRENTLY, so that no write waits while the index is built. It must be the only statement of the migration.
CREATE INDEX CONCURRENTLY "parent_programs_changes_idx" ON "parent_programs"(
  "organization_id", date_bin(INTERVAL '2160 hours', "created_at", TIMESTAMPTZ '2000-01-01T00:00:00Z'), "updated_at", "created_at", "id"
);
