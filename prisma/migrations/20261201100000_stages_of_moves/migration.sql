-- CreateEnum
CREATE TYPE "move_stage" AS ENUM ('leaving', 'completed', 'arriving', 'deleting');

-- AlterTable
ALTER TABLE "organization_moves" ADD COLUMN     "stage" "move_stage" NOT NULL DEFAULT 'leaving';
