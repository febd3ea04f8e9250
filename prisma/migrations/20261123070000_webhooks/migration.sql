-- CreateEnum
CREATE TYPE "webhook_disabled_reason" AS ENUM ('user', 'gone', 'failing');

-- CreateEnum
CREATE TYPE "webhook_delivery_state" AS ENUM ('pending', 'succeeded', 'failed');

-- CreateTable
CREATE TABLE "webhook_endpoints" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "url" VARCHAR(2000) NOT NULL,
    "event_types" VARCHAR(50)[] NOT NULL,
    "secret" BYTEA NOT NULL,
    "previous_secret" BYTEA,
    "previous_secret_until" TIMESTAMPTZ(3),
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" "webhook_disabled_reason",
    "failing_since" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by_user_id" UUID,

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
-- By hand: a fill factor that leaves room for updates within the page, because each attempt updates its row twice.
CREATE TABLE "webhook_deliveries" (
    "organization_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "is_test" BOOLEAN NOT NULL DEFAULT false,
    "state" "webhook_delivery_state" NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("organization_id","endpoint_id","message_id")
) WITH (fillfactor = 70);

-- CreateTable
CREATE TABLE "webhook_attempts" (
    "organization_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "status" INTEGER,
    "error" VARCHAR(300) NOT NULL DEFAULT '',
    "response_body" BYTEA NOT NULL DEFAULT '\x'::bytea,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("organization_id","endpoint_id","message_id","number")
);

-- CreateTable
CREATE TABLE "webhook_days" (
    "organization_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "succeeded" BIGINT NOT NULL,
    "failed" BIGINT NOT NULL,

    CONSTRAINT "webhook_days_pkey" PRIMARY KEY ("organization_id","endpoint_id","day")
) WITH (fillfactor = 50);

-- AddForeignKey
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_organization_id_created_by_user_id_fkey" FOREIGN KEY ("organization_id", "created_by_user_id") REFERENCES "users"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_organization_id_endpoint_id_fkey" FOREIGN KEY ("organization_id", "endpoint_id") REFERENCES "webhook_endpoints"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_organization_id_endpoint_id_message_id_fkey" FOREIGN KEY ("organization_id", "endpoint_id", "message_id") REFERENCES "webhook_deliveries"("organization_id", "endpoint_id", "message_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_days" ADD CONSTRAINT "webhook_days_organization_id_endpoint_id_fkey" FOREIGN KEY ("organization_id", "endpoint_id") REFERENCES "webhook_endpoints"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand: what is due, by endpoint, so that the deliveries of one endpoint do not stand before those of another.
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries"("organization_id", "endpoint_id", "next_attempt_at", "message_id")
  WHERE "next_attempt_at" IS NOT NULL;

-- By hand: what the types above cannot say.
ALTER TABLE "webhook_endpoints"
  ADD CONSTRAINT "webhook_endpoints_url_check" CHECK ("url" ~ '^https?://.'),
  ADD CONSTRAINT "webhook_endpoints_event_types_check" CHECK (cardinality("event_types") >= 1 AND array_position("event_types", NULL) IS NULL),
  ADD CONSTRAINT "webhook_endpoints_secret_check" CHECK (octet_length("secret") = 69 AND get_byte("secret", 0) = 1),
  ADD CONSTRAINT "webhook_endpoints_previous_secret_check" CHECK (octet_length("previous_secret") = 69 AND get_byte("previous_secret", 0) = 1),
  ADD CONSTRAINT "webhook_endpoints_previous_check" CHECK (("previous_secret" IS NULL) = ("previous_secret_until" IS NULL)),
  ADD CONSTRAINT "webhook_endpoints_disabled_check" CHECK (("disabled_at" IS NULL) = ("disabled_reason" IS NULL));
ALTER TABLE "webhook_deliveries"
  ADD CONSTRAINT "webhook_deliveries_attempts_check" CHECK ("attempts" >= 0),
  ADD CONSTRAINT "webhook_deliveries_failures_check" CHECK ("failures" >= 0),
  ADD CONSTRAINT "webhook_deliveries_next_attempt_check" CHECK (("state" = 'pending') = ("next_attempt_at" IS NOT NULL));
ALTER TABLE "webhook_attempts"
  ADD CONSTRAINT "webhook_attempts_number_check" CHECK ("number" >= 1),
  ADD CONSTRAINT "webhook_attempts_duration_check" CHECK ("duration_ms" >= 0),
  ADD CONSTRAINT "webhook_attempts_status_check" CHECK ("status" BETWEEN 100 AND 599),
  ADD CONSTRAINT "webhook_attempts_error_check" CHECK (("status" IS NULL) = ("error" <> '')),
  ADD CONSTRAINT "webhook_attempts_response_body_check" CHECK (octet_length("response_body") <= 1024);
ALTER TABLE "webhook_days"
  ADD CONSTRAINT "webhook_days_succeeded_check" CHECK ("succeeded" >= 0),
  ADD CONSTRAINT "webhook_days_failed_check" CHECK ("failed" >= 0);

-- By hand: like every other secret (20261122204500_encrypt_secrets).
CREATE TRIGGER "webhook_endpoints_encryption_key" BEFORE INSERT OR UPDATE OF "secret" ON "webhook_endpoints"
  FOR EACH ROW EXECUTE FUNCTION "require_encryption_key"('secret');
CREATE TRIGGER "webhook_endpoints_previous_encryption_key" BEFORE INSERT OR UPDATE OF "previous_secret" ON "webhook_endpoints"
  FOR EACH ROW WHEN (NEW."previous_secret" IS NOT NULL) EXECUTE FUNCTION "require_encryption_key"('previous_secret');
