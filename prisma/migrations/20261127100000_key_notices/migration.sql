-- CreateEnum
CREATE TYPE "key_notice_kind" AS ENUM ('created', 'rotated', 'moved', 'revoked', 'expires', 'unused', 'ended', 'new_network', 'limited');

-- CreateTable
CREATE TABLE "key_networks" (
    "organization_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "network" VARCHAR(45) NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "key_networks_pkey" PRIMARY KEY ("organization_id","key_id","network")
);

-- CreateTable
CREATE TABLE "key_notices" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "kind" "key_notice_kind" NOT NULL,
    "occasion" VARCHAR(100) NOT NULL,
    "is_for_address" BOOLEAN NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "by_user_id" UUID,
    "detail" VARCHAR(300) NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "mail_due_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "dismissed_at" TIMESTAMPTZ(3),

    CONSTRAINT "key_notices_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE INDEX "key_networks_last_seen_at_idx" ON "key_networks"("last_seen_at");

-- CreateIndex
CREATE INDEX "key_notices_created_at_idx" ON "key_notices"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "key_notices_organization_id_key_id_user_id_kind_occasion_is_key" ON "key_notices"("organization_id", "key_id", "user_id", "kind", "occasion", "is_for_address");

-- By hand: the mails that are due, and what the dashboard shows to a user.
CREATE INDEX "key_notices_mail_idx" ON "key_notices"("mail_due_at") WHERE "mail_due_at" IS NOT NULL;
CREATE INDEX "key_notices_open_idx" ON "key_notices"("organization_id", "user_id", "created_at")
  WHERE "dismissed_at" IS NULL AND NOT "is_for_address" AND "kind" IN ('expires', 'unused', 'ended', 'limited');

-- AddForeignKey
ALTER TABLE "key_networks" ADD CONSTRAINT "key_networks_organization_id_key_id_fkey" FOREIGN KEY ("organization_id", "key_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "key_notices" ADD CONSTRAINT "key_notices_organization_id_key_id_fkey" FOREIGN KEY ("organization_id", "key_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
