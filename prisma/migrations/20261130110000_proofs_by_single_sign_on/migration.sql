-- AlterTable
ALTER TABLE "sso_sign_ins" ADD COLUMN     "is_proof" BOOLEAN NOT NULL DEFAULT false;
