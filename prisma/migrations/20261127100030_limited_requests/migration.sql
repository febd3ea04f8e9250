-- AlterTable
ALTER TABLE "key_uses" ADD COLUMN     "limited" BIGINT NOT NULL DEFAULT 0;
