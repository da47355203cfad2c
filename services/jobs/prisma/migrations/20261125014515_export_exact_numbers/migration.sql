-- AlterTable
ALTER TABLE "data_export" ADD COLUMN     "exact_numbers" BOOLEAN NOT NULL DEFAULT false;
