-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "last_used_client" VARCHAR(60),
ADD COLUMN     "last_used_network" VARCHAR(45);
