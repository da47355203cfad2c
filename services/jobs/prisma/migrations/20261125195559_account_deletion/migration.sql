-- CreateTable
CREATE TABLE "account_erasure" (
    "account_id" INTEGER NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "facts" JSONB,
    "counts" JSONB NOT NULL DEFAULT '{}',
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "account_erasure_pkey" PRIMARY KEY ("account_id")
);
