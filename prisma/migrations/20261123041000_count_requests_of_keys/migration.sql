-- CreateEnum
CREATE TYPE "use_period" AS ENUM ('hour', 'day');

-- CreateTable
-- By hand: a fill factor that leaves room for heap-only updates, because each row is updated every minute.
CREATE TABLE "key_uses" (
    "organization_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "period" "use_period" NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "successful" BIGINT NOT NULL,
    "refused" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,

    CONSTRAINT "key_uses_pkey" PRIMARY KEY ("organization_id","key_id","period","starts_at")
) WITH (fillfactor = 50);

-- CreateIndex
CREATE INDEX "key_uses_period_starts_at_idx" ON "key_uses"("period", "starts_at");

-- AddForeignKey
ALTER TABLE "key_uses" ADD CONSTRAINT "key_uses_organization_id_key_id_fkey" FOREIGN KEY ("organization_id", "key_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;
