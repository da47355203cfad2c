-- AlterTable
ALTER TABLE "branch_removal" ADD COLUMN     "application_id" INTEGER,
ADD COLUMN     "request_id" TEXT,
ADD COLUMN     "requested_by" INTEGER;

-- AlterTable
ALTER TABLE "deployment_action" ADD COLUMN     "application_id" INTEGER,
ADD COLUMN     "request_id" TEXT;

-- AlterTable
ALTER TABLE "promotion_action" ADD COLUMN     "application_id" INTEGER,
ADD COLUMN     "request_id" TEXT;

-- AlterTable
ALTER TABLE "table_removal" ADD COLUMN     "application_id" INTEGER,
ADD COLUMN     "request_id" TEXT,
ADD COLUMN     "restore_application_id" INTEGER,
ADD COLUMN     "restore_request_id" TEXT;
