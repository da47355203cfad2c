-- AlterTable
ALTER TABLE "job" ADD COLUMN     "failed_by" TEXT;
