-- AlterTable
ALTER TABLE "data_export" ADD COLUMN     "for_editing" BOOLEAN NOT NULL DEFAULT false;
