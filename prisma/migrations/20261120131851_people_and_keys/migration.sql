-- CreateEnum
CREATE TYPE "access_link_kind" AS ENUM ('invitation', 'password_reset');

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "refused_uses" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "revoked_by_user_id" UUID,
ADD COLUMN     "rotated_by_user_id" UUID,
ADD COLUMN     "successor_id" UUID;

-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "allows_unending_keys" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "max_key_life_days" INTEGER NOT NULL DEFAULT 365,
ADD COLUMN     "members_may_create_keys" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "recovery_codes" BYTEA[] DEFAULT ARRAY[]::BYTEA[],
ADD COLUMN     "totp_last_step" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "totp_secret" BYTEA,
ADD COLUMN     "totp_since" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "sessions" (
    "organization_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "user_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "is_complete" BOOLEAN NOT NULL,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("organization_id","token_hash")
);

-- CreateTable
CREATE TABLE "access_links" (
    "organization_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "user_id" UUID NOT NULL,
    "kind" "access_link_kind" NOT NULL,
    "made_by_user_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_links_pkey" PRIMARY KEY ("organization_id","token_hash")
);

-- CreateTable
CREATE TABLE "audit_events" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "act" VARCHAR(50) NOT NULL,
    "actor_user_id" UUID,
    "target_user_id" UUID,
    "key_id" UUID,
    "detail" JSONB NOT NULL DEFAULT '{}',
    "ip" VARCHAR(45) NOT NULL DEFAULT '',
    "user_agent" VARCHAR(300) NOT NULL DEFAULT '',
    "request_id" VARCHAR(64) NOT NULL DEFAULT '',

    CONSTRAINT "audit_events_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "sign_in_failures" (
    "key" VARCHAR(255) NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "sign_in_failures_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions"("token_hash");

-- CreateIndex
CREATE INDEX "sessions_organization_id_user_id_idx" ON "sessions"("organization_id", "user_id");

-- CreateIndex
CREATE INDEX "sessions_last_seen_at_idx" ON "sessions"("last_seen_at");

-- CreateIndex
CREATE UNIQUE INDEX "access_links_token_hash_key" ON "access_links"("token_hash");

-- CreateIndex
CREATE INDEX "access_links_organization_id_user_id_idx" ON "access_links"("organization_id", "user_id");

-- CreateIndex
CREATE INDEX "audit_events_organization_id_act_id_idx" ON "audit_events"("organization_id", "act", "id");

-- CreateIndex
CREATE INDEX "audit_events_organization_id_actor_user_id_id_idx" ON "audit_events"("organization_id", "actor_user_id", "id");

-- CreateIndex
CREATE INDEX "audit_events_organization_id_target_user_id_id_idx" ON "audit_events"("organization_id", "target_user_id", "id");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_rotated_by_user_id_fkey" FOREIGN KEY ("organization_id", "rotated_by_user_id") REFERENCES "users"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_revoked_by_user_id_fkey" FOREIGN KEY ("organization_id", "revoked_by_user_id") REFERENCES "users"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_successor_id_fkey" FOREIGN KEY ("organization_id", "successor_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_organization_id_user_id_fkey" FOREIGN KEY ("organization_id", "user_id") REFERENCES "users"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_links" ADD CONSTRAINT "access_links_organization_id_user_id_fkey" FOREIGN KEY ("organization_id", "user_id") REFERENCES "users"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_links" ADD CONSTRAINT "access_links_organization_id_made_by_user_id_fkey" FOREIGN KEY ("organization_id", "made_by_user_id") REFERENCES "users"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "audit_events" ADD CONSTRAINT "audit_events_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- By hand: Prisma leaves its lists nullable.
ALTER TABLE "users" ALTER COLUMN "recovery_codes" SET NOT NULL;

-- CreateIndex
CREATE INDEX "users_organization_id_name_id_idx" ON "users"("organization_id", "name", "id");

-- By hand: people are searched by parts of name and e-mail.
CREATE INDEX "users_search_idx" ON "users" USING GIN ("organization_id", lower(("name" || ' ' || "email") COLLATE pg_catalog."default") gin_trgm_ops);

-- By hand: the active keys that somebody made for others are reviewed once that person is not trusted any more.
CREATE INDEX "api_keys_creator_idx" ON "api_keys"("organization_id","created_by_user_id","created_at") WHERE "rotated_at" IS NULL AND "revoked_at" IS NULL;

-- By hand: what must hold whoever writes.
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_max_key_life_days_check" CHECK ("max_key_life_days" BETWEEN 1 AND 3650);
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_state_check" CHECK ("rotated_at" IS NULL OR "revoked_at" IS NULL);
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_token_hash_check" CHECK (octet_length("token_hash") = 32);
ALTER TABLE "access_links" ADD CONSTRAINT "access_links_token_hash_check" CHECK (octet_length("token_hash") = 32);
ALTER TABLE "users" ADD CONSTRAINT "users_totp_secret_check" CHECK (octet_length("totp_secret") = 20);
ALTER TABLE "audit_events" ADD CONSTRAINT "audit_events_detail_check" CHECK (jsonb_typeof("detail") = 'object');

-- By hand: the audit log is append-only, whoever asks.
CREATE FUNCTION "refuse_change_of_audit_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit events are append-only';
END
$$;
CREATE TRIGGER "audit_events_append_only" BEFORE UPDATE OR DELETE ON "audit_events"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change_of_audit_event"();
CREATE TRIGGER "audit_events_no_truncate" BEFORE TRUNCATE ON "audit_events"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change_of_audit_event"();
