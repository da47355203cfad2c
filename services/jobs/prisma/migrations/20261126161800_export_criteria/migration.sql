-- AlterTable
ALTER TABLE "data_export" ADD COLUMN     "criteria" TEXT;
