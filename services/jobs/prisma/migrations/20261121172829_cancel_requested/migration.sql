-- AlterTable
ALTER TABLE "data_import" ADD COLUMN     "cancel_requested" BOOLEAN NOT NULL DEFAULT false;
