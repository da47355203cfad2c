-- AlterTable
ALTER TABLE "deployment_table" ADD COLUMN     "is_removal" BOOLEAN NOT NULL DEFAULT false;
