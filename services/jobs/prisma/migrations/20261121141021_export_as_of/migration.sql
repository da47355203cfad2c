-- AlterTable
ALTER TABLE "data_export" ADD COLUMN     "as_of" TEXT;
