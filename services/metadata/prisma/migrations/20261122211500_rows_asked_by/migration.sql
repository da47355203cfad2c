-- AlterTable
ALTER TABLE "table_definition" ADD COLUMN     "rows_asked_by" INTEGER;
