-- AlterTable
-- Longer, for "charter_live_" with a cell. PostgreSQL neither rewrites the table nor its indexes.
ALTER TABLE "api_keys" ALTER COLUMN "key_prefix" SET DATA TYPE VARCHAR(30);
