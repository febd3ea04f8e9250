-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "id" UUID NOT NULL DEFAULT gen_random_uuid(),
ADD COLUMN     "ip" VARCHAR(45) NOT NULL DEFAULT '',
ADD COLUMN     "user_agent" VARCHAR(300) NOT NULL DEFAULT '';
