-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "requests_per_key" INTEGER,
ADD COLUMN     "requests_per_organization" INTEGER;
-- By hand:
ALTER TABLE "organizations"
  ADD CONSTRAINT "organizations_requests_per_key" CHECK ("requests_per_key" BETWEEN 0 AND 1000000),
  ADD CONSTRAINT "organizations_requests_per_organization" CHECK ("requests_per_organization" BETWEEN 0 AND 1000000);

-- CreateTable
-- By hand: UNLOGGED, because a lost bucket is only full again, and a fill factor that leaves room for heap-only updates.
CREATE UNLOGGED TABLE "rate_limits" (
    "subject" VARCHAR(100) NOT NULL,
    "rate" DOUBLE PRECISION NOT NULL,
    "tokens" DOUBLE PRECISION NOT NULL,
    "granted" DOUBLE PRECISION NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "rate_limits_pkey" PRIMARY KEY ("subject")
) WITH (fillfactor = 50);
