-- AlterTable
ALTER TABLE "import_table" ADD COLUMN     "safe_cells" BOOLEAN NOT NULL DEFAULT false;
