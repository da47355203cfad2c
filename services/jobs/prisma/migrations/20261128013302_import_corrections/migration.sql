-- AlterTable
ALTER TABLE "import_table" ADD COLUMN     "corrections" JSONB NOT NULL DEFAULT '[]';
