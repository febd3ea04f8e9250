-- CreateEnum
CREATE TYPE "passkey_purpose" AS ENUM ('sign_in', 'proof', 'registration');

-- CreateTable
CREATE TABLE "passkeys" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "credential_id" BYTEA NOT NULL,
    "user_handle" BYTEA NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" VARCHAR(20)[],
    "is_backup_eligible" BOOLEAN NOT NULL,
    "is_backed_up" BOOLEAN NOT NULL,
    "name" VARCHAR(100) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
-- By hand: UNLOGGED, because the person of a lost challenge only tries again.
CREATE UNLOGGED TABLE "passkey_challenges" (
    "challenge_hash" BYTEA NOT NULL,
    "browser_hash" BYTEA NOT NULL,
    "purpose" "passkey_purpose" NOT NULL,
    "user_handle" BYTEA,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "passkey_challenges_pkey" PRIMARY KEY ("challenge_hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "passkeys_credential_id_key" ON "passkeys"("credential_id");

-- CreateIndex
CREATE INDEX "passkeys_organization_id_user_id_idx" ON "passkeys"("organization_id", "user_id");

-- CreateIndex
CREATE INDEX "passkey_challenges_expires_at_idx" ON "passkey_challenges"("expires_at");

-- AddForeignKey
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_organization_id_user_id_fkey" FOREIGN KEY ("organization_id", "user_id") REFERENCES "users"("organization_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand:
ALTER TABLE "passkeys"
  ADD CONSTRAINT "passkeys_credential_id_check" CHECK (octet_length("credential_id") BETWEEN 1 AND 1023),
  ADD CONSTRAINT "passkeys_user_handle_check" CHECK (octet_length("user_handle") BETWEEN 1 AND 64),
  ADD CONSTRAINT "passkeys_counter_check" CHECK ("counter" BETWEEN 0 AND 4294967295),
  ADD CONSTRAINT "passkeys_backup_check" CHECK ("is_backup_eligible" OR NOT "is_backed_up");
ALTER TABLE "passkey_challenges"
  ADD CONSTRAINT "passkey_challenges_registration_check" CHECK (("purpose" = 'registration') = ("user_handle" IS NOT NULL));
