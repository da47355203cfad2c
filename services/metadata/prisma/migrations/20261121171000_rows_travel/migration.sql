-- AlterTable
ALTER TABLE "table_definition" ADD COLUMN     "rows_from_id" INTEGER;

-- AlterTable
ALTER TABLE "promotion" ADD COLUMN     "asked" JSONB,
ADD COLUMN     "attempt" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "include_data" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "lease_until" TIMESTAMPTZ(3),
ADD COLUMN     "rows" JSONB,
ADD COLUMN     "tries" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "was_resumed" BOOLEAN NOT NULL DEFAULT false;

-- CreateIndex
CREATE INDEX "promotion_status_lease_until_idx" ON "promotion"("status", "lease_until");
