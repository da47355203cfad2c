-- AlterTable
ALTER TABLE "account" ADD COLUMN     "rights_revision" INTEGER NOT NULL DEFAULT 0;
