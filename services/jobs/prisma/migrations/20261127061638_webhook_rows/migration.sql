-- AlterTable
ALTER TABLE "webhook_endpoint" ADD COLUMN     "include_rows" BOOLEAN NOT NULL DEFAULT false;
