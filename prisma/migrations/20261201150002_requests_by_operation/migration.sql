-- CreateTable
CREATE TABLE "key_operation_uses" (
    "organization_id" UUID NOT NULL,
    "key_id" UUID NOT NULL,
    "operation" VARCHAR(100) NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "successful" BIGINT NOT NULL,
    "refused" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,

    CONSTRAINT "key_operation_uses_pkey" PRIMARY KEY ("organization_id","key_id","operation","starts_at")
);

-- CreateIndex
CREATE INDEX "key_operation_uses_starts_at_idx" ON "key_operation_uses"("starts_at");

-- AddForeignKey
ALTER TABLE "key_operation_uses" ADD CONSTRAINT "key_operation_uses_organization_id_key_id_fkey" FOREIGN KEY ("organization_id", "key_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
