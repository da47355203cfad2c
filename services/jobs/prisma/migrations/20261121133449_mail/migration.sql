-- CreateTable
CREATE TABLE "mail" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "message_id" UUID NOT NULL,
    "user_id" INTEGER NOT NULL,
    "template" TEXT NOT NULL,
    "values" JSONB NOT NULL DEFAULT '{}',
    "request_id" TEXT,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mail_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "mail_account_id_due_at_idx" ON "mail"("account_id", "due_at");

-- CreateIndex
CREATE INDEX "mail_status_updated_at_idx" ON "mail"("status", "updated_at");

-- CreateIndex
CREATE UNIQUE INDEX "mail_message_id_user_id_key" ON "mail"("message_id", "user_id");
