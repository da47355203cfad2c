-- CreateTable
CREATE TABLE "idempotent_answer" (
    "account_id" INTEGER NOT NULL,
    "caller" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "headers" JSONB,
    "body" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotent_answer_pkey" PRIMARY KEY ("account_id","caller","key")
);

-- CreateIndex
CREATE INDEX "idempotent_answer_created_at_idx" ON "idempotent_answer"("created_at");
