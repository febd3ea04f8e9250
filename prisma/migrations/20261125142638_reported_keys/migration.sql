-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "is_leaked" BOOLEAN NOT NULL DEFAULT false;
