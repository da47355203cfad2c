-- AlterTable
ALTER TABLE "import_table" ADD COLUMN     "mass_delete_by" INTEGER;
