-- CreateTable
CREATE TABLE "account_event" (
    "id" BIGSERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "message_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "actor" JSONB NOT NULL,
    "resource" JSONB NOT NULL,
    "data" JSONB NOT NULL DEFAULT '{}',
    "api_version" TEXT NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account_event_start" (
    "account_id" INTEGER NOT NULL,
    "removed_id" BIGINT NOT NULL,

    CONSTRAINT "account_event_start_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "account_event_account_id_message_id_key" ON "account_event"("account_id", "message_id");

-- CreateIndex
CREATE INDEX "account_event_account_id_id_idx" ON "account_event"("account_id", "id");

-- CreateIndex
CREATE INDEX "account_event_recorded_at_idx" ON "account_event"("recorded_at");
