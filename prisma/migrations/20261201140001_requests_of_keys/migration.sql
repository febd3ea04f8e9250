-- AlterTable
ALTER TABLE "key_uses" ADD COLUMN     "unlisted" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "key_requests" (
    "organization_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "request_id" UUID NOT NULL,
    "operation" VARCHAR(100) NOT NULL,
    "status" INTEGER NOT NULL,
    "exception" VARCHAR(50) NOT NULL DEFAULT '',
    "message" VARCHAR(500) NOT NULL DEFAULT '',
    "duration_ms" INTEGER NOT NULL,

    CONSTRAINT "key_requests_pkey" PRIMARY KEY ("organization_id","at","request_id")
);

-- CreateIndex
CREATE INDEX "key_requests_organization_id_key_id_at_idx" ON "key_requests"("organization_id", "key_id", "at");

-- CreateIndex
CREATE INDEX "key_requests_at_idx" ON "key_requests"("at");

-- AddForeignKey
ALTER TABLE "key_requests" ADD CONSTRAINT "key_requests_organization_id_key_id_fkey" FOREIGN KEY ("organization_id", "key_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
