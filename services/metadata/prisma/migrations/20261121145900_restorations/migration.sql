-- AlterTable
ALTER TABLE "table_removal" ADD COLUMN     "restore_requested_at" TIMESTAMPTZ(3),
ADD COLUMN     "restore_requested_by" INTEGER;
