-- CreateTable
CREATE TABLE "change_request" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "title" TEXT NOT NULL,
    "description" TEXT,
    "created_by" INTEGER,
    "application_id" INTEGER,
    "continues_id" INTEGER,
    "approved_by" INTEGER,
    "approved_revision" TEXT,
    "applied_by" INTEGER,
    "applied" JSONB,
    "error" TEXT,
    "phase_pending_at" TIMESTAMPTZ(3),
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "asked" JSONB,
    "lease_until" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,
    "was_resumed" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "applied_at" TIMESTAMPTZ(3),

    CONSTRAINT "change_request_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "change_request_table" (
    "change_request_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "domain_id" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created" INTEGER NOT NULL,
    "updated" INTEGER NOT NULL,
    "deleted" INTEGER NOT NULL,

    CONSTRAINT "change_request_table_pkey" PRIMARY KEY ("change_request_id","table_definition_id")
);

-- CreateTable
CREATE TABLE "change_request_approval" (
    "change_request_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "revision" TEXT NOT NULL,
    "comment" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "change_request_approval_pkey" PRIMARY KEY ("change_request_id","user_id")
);

-- CreateTable
CREATE TABLE "change_request_comment" (
    "id" SERIAL NOT NULL,
    "change_request_id" INTEGER NOT NULL,
    "operation_id" BIGINT,
    "user_id" INTEGER,
    "application_id" INTEGER,
    "body" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "change_request_comment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "change_request_action" (
    "id" SERIAL NOT NULL,
    "change_request_id" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "user_id" INTEGER,
    "application_id" INTEGER,
    "request_id" TEXT,
    "comment" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "change_request_action_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "change_request_account_id_status_idx" ON "change_request"("account_id", "status");

-- CreateIndex
CREATE INDEX "change_request_branch_id_idx" ON "change_request"("branch_id");

-- CreateIndex
CREATE INDEX "change_request_continues_id_idx" ON "change_request"("continues_id");

-- CreateIndex
CREATE INDEX "change_request_status_lease_until_idx" ON "change_request"("status", "lease_until");

-- CreateIndex
CREATE INDEX "change_request_phase_pending_at_idx" ON "change_request"("phase_pending_at");

-- CreateIndex
CREATE INDEX "change_request_table_table_definition_id_idx" ON "change_request_table"("table_definition_id");

-- CreateIndex
CREATE INDEX "change_request_comment_change_request_id_operation_id_idx" ON "change_request_comment"("change_request_id", "operation_id");

-- CreateIndex
CREATE INDEX "change_request_action_change_request_id_idx" ON "change_request_action"("change_request_id");

-- AddForeignKey
ALTER TABLE "change_request" ADD CONSTRAINT "change_request_branch_id_fkey" FOREIGN KEY ("branch_id") REFERENCES "branch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "change_request_table" ADD CONSTRAINT "change_request_table_change_request_id_fkey" FOREIGN KEY ("change_request_id") REFERENCES "change_request"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "change_request_approval" ADD CONSTRAINT "change_request_approval_change_request_id_fkey" FOREIGN KEY ("change_request_id") REFERENCES "change_request"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "change_request_comment" ADD CONSTRAINT "change_request_comment_change_request_id_fkey" FOREIGN KEY ("change_request_id") REFERENCES "change_request"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "change_request_action" ADD CONSTRAINT "change_request_action_change_request_id_fkey" FOREIGN KEY ("change_request_id") REFERENCES "change_request"("id") ON DELETE CASCADE ON UPDATE CASCADE;
