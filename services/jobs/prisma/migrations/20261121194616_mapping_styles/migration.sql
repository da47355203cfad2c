-- AlterTable
ALTER TABLE "import_mapping" ADD COLUMN     "decimal_separator" TEXT,
ADD COLUMN     "encoding" TEXT,
ADD COLUMN     "has_header" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "quote" TEXT;
