-- CreateTable
CREATE TABLE "billing_event" (
    "source" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "account_id" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "billing_status" TEXT,
    "overdue_since" TIMESTAMPTZ(3),
    "plan" TEXT,
    "allowance" BIGINT,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "billing_event_pkey" PRIMARY KEY ("source","event_id")
);

-- CreateTable
CREATE TABLE "plan_change" (
    "id" BIGSERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "plan" TEXT NOT NULL,
    "allowance" BIGINT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "plan_change_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notice" (
    "account_id" INTEGER NOT NULL,
    "period_start" DATE NOT NULL,
    "kind" TEXT NOT NULL,

    CONSTRAINT "notice_pkey" PRIMARY KEY ("account_id","period_start","kind")
);

-- CreateIndex
CREATE INDEX "billing_event_account_id_occurred_at_idx" ON "billing_event"("account_id", "occurred_at");

-- CreateIndex
CREATE INDEX "plan_change_account_id_since_idx" ON "plan_change"("account_id", "since");

-- What must hold whatever a program does.
ALTER TABLE "billing_event" ADD CONSTRAINT "billing_event_said_check" CHECK (
    ("billing_status" IS NULL OR "billing_status" IN ('current', 'overdue', 'cancelled'))
    AND ("overdue_since" IS NULL OR "billing_status" = 'overdue')
    AND "allowance" >= 0
);
ALTER TABLE "overage_rate" ADD CONSTRAINT "overage_rate_price_check" CHECK ("price_per_1000" >= 0 AND "currency" ~ '^[A-Z]{3}$');

-- What is in force now is the beginning of what will be known.
INSERT INTO "plan_change" ("account_id", "plan", "allowance", "since")
SELECT "account_id", "plan", "allowance", "created_at" FROM "account_subscription";
