-- AlterTable
ALTER TABLE "account_subscription" ADD COLUMN     "storage_bytes" BIGINT;
