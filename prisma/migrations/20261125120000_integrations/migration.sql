-- It locks one table only: requests that lock several in another order would deadlock with it.
-- CreateEnum
CREATE TYPE "user_kind" AS ENUM ('person', 'integration');

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "description" VARCHAR(1000) NOT NULL DEFAULT '',
ADD COLUMN     "kind" "user_kind" NOT NULL DEFAULT 'person',
ADD COLUMN     "notice_email" VARCHAR(254) NOT NULL DEFAULT '',
ADD COLUMN     "owner_user_id" UUID,
ALTER COLUMN "email" DROP NOT NULL;

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_organization_id_owner_user_id_fkey" FOREIGN KEY ("organization_id", "owner_user_id") REFERENCES "users"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE NOT VALID;

-- By hand: an integration cannot sign in, whatever code writes the row.
ALTER TABLE "users"
  ADD CONSTRAINT "users_integration_email_check" CHECK (("kind" = 'integration') = ("email" IS NULL)) NOT VALID,
  ADD CONSTRAINT "users_integration_owner_check" CHECK (("kind" = 'integration') = ("owner_user_id" IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT "users_integration_role_check" CHECK ("kind" = 'person' OR "role" IN ('member', 'viewer')) NOT VALID,
  ADD CONSTRAINT "users_integration_sign_in_check" CHECK (
    "kind" = 'person'
    OR ("password_hash" IS NULL AND "totp_secret" IS NULL AND "totp_since" IS NULL AND cardinality("recovery_codes") = 0)
  ) NOT VALID,
  ADD CONSTRAINT "users_person_notes_check" CHECK ("kind" = 'integration' OR ("description" = '' AND "notice_email" = '')) NOT VALID,
  ADD CONSTRAINT "users_notice_email_check" CHECK ("notice_email" = lower("notice_email")) NOT VALID;
