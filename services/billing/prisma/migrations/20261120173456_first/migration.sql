-- CreateTable
CREATE TABLE "account_subscription" (
    "account_id" INTEGER NOT NULL,
    "plan" TEXT NOT NULL,
    "allowance" BIGINT NOT NULL,
    "billing_status" TEXT NOT NULL DEFAULT 'current',
    "overdue_since" TIMESTAMPTZ(3),
    "overage_enabled" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_subscription_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "monthly_usage" (
    "account_id" INTEGER NOT NULL,
    "period_start" DATE NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,
    "reserved" BIGINT NOT NULL DEFAULT 0,
    "overage_calls" BIGINT NOT NULL DEFAULT 0,
    "last_grant" INTEGER NOT NULL DEFAULT 0,
    "announced_percent" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "monthly_usage_pkey" PRIMARY KEY ("account_id","period_start")
);

-- CreateTable
CREATE TABLE "call_lease" (
    "id" UUID NOT NULL,
    "account_id" INTEGER NOT NULL,
    "period_start" DATE NOT NULL,
    "gateway_id" TEXT NOT NULL,
    "granted" BIGINT NOT NULL,
    "settled" BIGINT NOT NULL DEFAULT 0,
    "last_sequence" BIGINT NOT NULL DEFAULT 0,
    "overage_rate_id" INTEGER,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "call_lease_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "daily_usage" (
    "account_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "method" TEXT NOT NULL,
    "resource" TEXT NOT NULL,
    "application_id" INTEGER NOT NULL DEFAULT 0,
    "calls" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "daily_usage_pkey" PRIMARY KEY ("account_id","day","method","resource","application_id")
);

-- CreateTable
CREATE TABLE "overage_rate" (
    "id" SERIAL NOT NULL,
    "plan" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "price_per_1000" DECIMAL(12,4) NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "overage_rate_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "overage_line" (
    "account_id" INTEGER NOT NULL,
    "period_start" DATE NOT NULL,
    "overage_rate_id" INTEGER NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "overage_line_pkey" PRIMARY KEY ("account_id","period_start","overage_rate_id")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "message_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "request_id" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inbox" (
    "consumer" TEXT NOT NULL,
    "message_id" UUID NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer","message_id")
);

-- CreateIndex
CREATE INDEX "call_lease_account_id_closed_at_idx" ON "call_lease"("account_id", "closed_at");

-- CreateIndex
CREATE INDEX "call_lease_closed_at_expires_at_idx" ON "call_lease"("closed_at", "expires_at");

-- CreateIndex
CREATE INDEX "overage_rate_plan_valid_from_idx" ON "overage_rate"("plan", "valid_from");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_message_id_key" ON "outbox"("message_id");

-- CreateIndex
CREATE INDEX "inbox_received_at_idx" ON "inbox"("received_at");

-- AddForeignKey
ALTER TABLE "call_lease" ADD CONSTRAINT "call_lease_overage_rate_id_fkey" FOREIGN KEY ("overage_rate_id") REFERENCES "overage_rate"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "overage_line" ADD CONSTRAINT "overage_line_overage_rate_id_fkey" FOREIGN KEY ("overage_rate_id") REFERENCES "overage_rate"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What must hold whatever a program does.
ALTER TABLE "account_subscription" ADD CONSTRAINT "account_subscription_allowance_check" CHECK ("allowance" >= 0);
ALTER TABLE "monthly_usage" ADD CONSTRAINT "monthly_usage_counts_check" CHECK ("calls" >= 0 AND "reserved" >= 0 AND "overage_calls" BETWEEN 0 AND "calls");
ALTER TABLE "call_lease" ADD CONSTRAINT "call_lease_counts_check" CHECK ("granted" >= 0 AND "settled" >= 0);

-- Overage is off until somebody turns it on; operators add rows with their own prices.
INSERT INTO "overage_rate" ("plan", "currency", "price_per_1000", "valid_from") VALUES
    ('free', 'USD', 2.0000, '2000-01-01T00:00:00Z'),
    ('plus', 'USD', 1.5000, '2000-01-01T00:00:00Z'),
    ('business', 'USD', 1.0000, '2000-01-01T00:00:00Z'),
    ('enterprise', 'USD', 1.0000, '2000-01-01T00:00:00Z');
