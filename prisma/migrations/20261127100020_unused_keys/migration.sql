-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "ends_unused_after_days" INTEGER,
ADD COLUMN     "ends_unused_since" TIMESTAMPTZ(3),
ADD COLUMN     "tells_new_networks" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "organizations"
  ADD CONSTRAINT "organizations_ends_unused_check" CHECK (
    "ends_unused_after_days" BETWEEN 7 AND 3650 AND "ends_unused_since" IS NOT NULL OR "ends_unused_after_days" IS NULL
  ) NOT VALID;
