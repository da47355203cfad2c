-- AlterTable
ALTER TABLE "stored_object" ADD COLUMN     "bytes" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "account_storage" (
    "account_id" INTEGER NOT NULL,
    "limit_bytes" BIGINT NOT NULL,
    "told_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_storage_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE INDEX "stored_object_account_id_idx" ON "stored_object"("account_id");

-- What is there counts from now on, as far as its size is known.
UPDATE "stored_object" o SET "bytes" = t."object_size"
FROM "import_table" t WHERE t."object_key" = o."key" AND t."object_size" IS NOT NULL;
UPDATE "stored_object" o SET "bytes" = e."bytes_exported"
FROM "data_export" e WHERE e."object_key" = o."key" AND e."bytes_exported" IS NOT NULL;
