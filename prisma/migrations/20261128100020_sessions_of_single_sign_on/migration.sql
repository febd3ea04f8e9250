-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "sso_sid" VARCHAR(255);
