-- AlterTable
ALTER TABLE "data_export" ADD COLUMN     "format" TEXT NOT NULL DEFAULT 'csv';
