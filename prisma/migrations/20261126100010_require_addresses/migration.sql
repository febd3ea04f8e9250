-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "requires_addresses" BOOLEAN NOT NULL DEFAULT false;
