-- Written by `npm run migration`, then extended by hand with what Prisma cannot say: see "By hand" here and below.
-- It runs as one transaction.

-- By hand: trigrams for the search in names, and GIN over uuid to lead that index with the organization.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- CreateEnum
CREATE TYPE "role" AS ENUM ('administrator', 'manager', 'member', 'viewer');

-- CreateTable
CREATE TABLE "organizations" (
    "id" UUID NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "suspended_at" TIMESTAMPTZ(3),
    "cursor_key" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "email" VARCHAR(254) NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "role" "role" NOT NULL,
    "password_hash" VARCHAR(255),
    "deactivated_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "created_by_user_id" UUID,
    "name" VARCHAR(100) NOT NULL,
    "key_hash" BYTEA NOT NULL,
    "key_prefix" VARCHAR(20) NOT NULL,
    -- By hand: not null; Prisma leaves its lists nullable.
    "permissions" VARCHAR(50)[] NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "rotated_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "parent_programs" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    -- By hand: "C", so that names sort by code point on every PostgreSQL.
    "name" VARCHAR(200) COLLATE "C" NOT NULL,
    "description" VARCHAR(10000),
    "external_id" VARCHAR(255),
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "parent_programs_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "organization_id" UUID NOT NULL,
    "key" VARCHAR(255) NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "answer" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("organization_id","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys"("key_hash");

-- CreateIndex
CREATE INDEX "api_keys_organization_id_user_id_created_at_idx" ON "api_keys"("organization_id", "user_id", "created_at");

-- CreateIndex
CREATE INDEX "parent_programs_organization_id_created_at_id_idx" ON "parent_programs"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "parent_programs_organization_id_updated_at_id_idx" ON "parent_programs"("organization_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "parent_programs_organization_id_name_id_idx" ON "parent_programs"("organization_id", "name", "id");

-- CreateIndex
CREATE UNIQUE INDEX "parent_programs_organization_id_external_id_key" ON "parent_programs"("organization_id", "external_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_user_id_fkey" FOREIGN KEY ("organization_id", "user_id") REFERENCES "users"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_created_by_user_id_fkey" FOREIGN KEY ("organization_id", "created_by_user_id") REFERENCES "users"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "parent_programs" ADD CONSTRAINT "parent_programs_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- By hand: the index of `search`. lower() in the database's own collation, because in "C" it would know ASCII alone.
CREATE INDEX "parent_programs_search_idx" ON "parent_programs" USING GIN ("organization_id", lower("name" COLLATE pg_catalog."default") gin_trgm_ops);

-- By hand: a name is free again once its key is rotated or revoked.
CREATE UNIQUE INDEX "api_keys_live_name_key" ON "api_keys"("organization_id", "user_id", "name") WHERE "rotated_at" IS NULL AND "revoked_at" IS NULL;

-- By hand: what must hold whoever writes.
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_cursor_key_check" CHECK (octet_length("cursor_key") = 32);
ALTER TABLE "users" ADD CONSTRAINT "users_email_check" CHECK ("email" = lower("email"));
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_key_hash_check" CHECK (octet_length("key_hash") = 32);
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_permissions_check" CHECK ("permissions" <@ ARRAY['parent_programs:read', 'parent_programs:write']::VARCHAR[]);
ALTER TABLE "parent_programs" ADD CONSTRAINT "parent_programs_name_check" CHECK ("name" <> '');
ALTER TABLE "parent_programs" ADD CONSTRAINT "parent_programs_external_id_check" CHECK ("external_id" <> '');
ALTER TABLE "parent_programs" ADD CONSTRAINT "parent_programs_metadata_check" CHECK (jsonb_typeof("metadata") = 'object');
