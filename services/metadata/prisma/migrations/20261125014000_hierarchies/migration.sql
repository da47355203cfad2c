-- AlterTable
ALTER TABLE "column_definition" ADD COLUMN     "is_hierarchy" BOOLEAN NOT NULL DEFAULT false;
