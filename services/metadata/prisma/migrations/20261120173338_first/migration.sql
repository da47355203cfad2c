-- CreateTable
CREATE TABLE "domain" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "abbreviation" TEXT,
    "description" TEXT,
    "creator_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "domain_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "branch" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "description" TEXT,
    "branch_type" TEXT NOT NULL DEFAULT 'shared',
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "is_protected" BOOLEAN NOT NULL DEFAULT false,
    "parent_branch_id" INTEGER,
    "owner_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "branch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "current_branch" (
    "account_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "current_branch_pkey" PRIMARY KEY ("account_id","user_id")
);

-- CreateTable
CREATE TABLE "branch_removal" (
    "branch_id" INTEGER NOT NULL,
    "account_id" INTEGER NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "branch_removal_pkey" PRIMARY KEY ("branch_id")
);

-- CreateTable
CREATE TABLE "table_definition" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "uuid" UUID NOT NULL DEFAULT gen_random_uuid(),
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "description" TEXT,
    "domain_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "lineage_id" INTEGER NOT NULL,
    "load_type" TEXT NOT NULL DEFAULT 'manual',
    "lookup_display_column_id" INTEGER,
    "version" INTEGER NOT NULL DEFAULT 1,
    "deployed_version" INTEGER,
    "needs_deployment" BOOLEAN NOT NULL DEFAULT true,
    "cloned_from_id" INTEGER,
    "cloned_from_version" INTEGER,
    "creator_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "table_definition_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "column_definition" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "lineage_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "data_type" TEXT NOT NULL,
    "length" INTEGER,
    "scale" INTEGER,
    "is_primary_key" BOOLEAN NOT NULL DEFAULT false,
    "is_required" BOOLEAN NOT NULL DEFAULT false,
    "foreign_key_table_id" INTEGER,
    "valid_values" TEXT,
    "description" TEXT,
    "position" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "column_definition_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "clone_base" (
    "table_definition_id" INTEGER NOT NULL,
    "source_id" INTEGER NOT NULL,
    "source_version" INTEGER NOT NULL,
    "structure" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "clone_base_pkey" PRIMARY KEY ("table_definition_id")
);

-- CreateTable
CREATE TABLE "deployed_table_definition" (
    "id" INTEGER NOT NULL,
    "account_id" INTEGER NOT NULL,
    "uuid" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "domain_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "lineage_id" INTEGER NOT NULL,
    "load_type" TEXT NOT NULL,
    "lookup_display_column_id" INTEGER,
    "version" INTEGER NOT NULL,
    "columns" JSONB NOT NULL,
    "deployment_id" INTEGER NOT NULL,
    "deployed_by" INTEGER,
    "deployed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "deployed_table_definition_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "table_removal" (
    "table_definition_id" INTEGER NOT NULL,
    "account_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "requested_by" INTEGER,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "removed_at" TIMESTAMPTZ(3),
    "definition" JSONB,
    "deployed" JSONB,

    CONSTRAINT "table_removal_pkey" PRIMARY KEY ("table_definition_id")
);

-- CreateTable
CREATE TABLE "deployment" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'created',
    "created_by" INTEGER,
    "approved_by" INTEGER,
    "deployed_by" INTEGER,
    "comment" TEXT,
    "error" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "wanted" JSONB,
    "diffs" JSONB,
    "deploying_branch_id" INTEGER,
    "lease_until" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,
    "was_resumed" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deployed_at" TIMESTAMPTZ(3),

    CONSTRAINT "deployment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deployment_table" (
    "deployment_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "deployment_table_pkey" PRIMARY KEY ("deployment_id","table_definition_id")
);

-- CreateTable
CREATE TABLE "deployment_action" (
    "id" SERIAL NOT NULL,
    "deployment_id" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "user_id" INTEGER,
    "comment" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deployment_action_pkey" PRIMARY KEY ("id")
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
CREATE UNIQUE INDEX "domain_account_id_name_key_key" ON "domain"("account_id", "name_key");

-- CreateIndex
CREATE INDEX "branch_parent_branch_id_idx" ON "branch"("parent_branch_id");

-- CreateIndex
CREATE UNIQUE INDEX "branch_account_id_name_key_key" ON "branch"("account_id", "name_key");

-- CreateIndex
CREATE INDEX "current_branch_branch_id_idx" ON "current_branch"("branch_id");

-- CreateIndex
CREATE UNIQUE INDEX "table_definition_uuid_key" ON "table_definition"("uuid");

-- CreateIndex
CREATE INDEX "table_definition_account_id_idx" ON "table_definition"("account_id");

-- CreateIndex
CREATE INDEX "table_definition_domain_id_idx" ON "table_definition"("domain_id");

-- CreateIndex
CREATE INDEX "table_definition_lookup_display_column_id_idx" ON "table_definition"("lookup_display_column_id");

-- CreateIndex
CREATE UNIQUE INDEX "table_definition_branch_id_key_key" ON "table_definition"("branch_id", "key");

-- CreateIndex
CREATE UNIQUE INDEX "table_definition_branch_id_name_key_key" ON "table_definition"("branch_id", "name_key");

-- CreateIndex
CREATE UNIQUE INDEX "table_definition_branch_id_lineage_id_key" ON "table_definition"("branch_id", "lineage_id");

-- CreateIndex
CREATE INDEX "column_definition_account_id_idx" ON "column_definition"("account_id");

-- CreateIndex
CREATE INDEX "column_definition_foreign_key_table_id_idx" ON "column_definition"("foreign_key_table_id");

-- CreateIndex
CREATE UNIQUE INDEX "column_definition_table_definition_id_name_key_key" ON "column_definition"("table_definition_id", "name_key");

-- CreateIndex
CREATE UNIQUE INDEX "column_definition_table_definition_id_lineage_id_key" ON "column_definition"("table_definition_id", "lineage_id");

-- CreateIndex
CREATE INDEX "deployed_table_definition_account_id_idx" ON "deployed_table_definition"("account_id");

-- CreateIndex
CREATE INDEX "deployed_table_definition_branch_id_idx" ON "deployed_table_definition"("branch_id");

-- CreateIndex
CREATE INDEX "deployed_table_definition_domain_id_idx" ON "deployed_table_definition"("domain_id");

-- CreateIndex
CREATE INDEX "table_removal_branch_id_idx" ON "table_removal"("branch_id");

-- CreateIndex
CREATE INDEX "table_removal_removed_at_idx" ON "table_removal"("removed_at");

-- CreateIndex
CREATE UNIQUE INDEX "deployment_deploying_branch_id_key" ON "deployment"("deploying_branch_id");

-- CreateIndex
CREATE INDEX "deployment_account_id_idx" ON "deployment"("account_id");

-- CreateIndex
CREATE INDEX "deployment_branch_id_idx" ON "deployment"("branch_id");

-- CreateIndex
CREATE INDEX "deployment_status_lease_until_idx" ON "deployment"("status", "lease_until");

-- CreateIndex
CREATE INDEX "deployment_table_table_definition_id_idx" ON "deployment_table"("table_definition_id");

-- CreateIndex
CREATE INDEX "deployment_action_deployment_id_idx" ON "deployment_action"("deployment_id");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_message_id_key" ON "outbox"("message_id");

-- CreateIndex
CREATE INDEX "inbox_received_at_idx" ON "inbox"("received_at");

-- AddForeignKey
ALTER TABLE "branch" ADD CONSTRAINT "branch_parent_branch_id_fkey" FOREIGN KEY ("parent_branch_id") REFERENCES "branch"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "current_branch" ADD CONSTRAINT "current_branch_branch_id_fkey" FOREIGN KEY ("branch_id") REFERENCES "branch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "table_definition" ADD CONSTRAINT "table_definition_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domain"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "table_definition" ADD CONSTRAINT "table_definition_branch_id_fkey" FOREIGN KEY ("branch_id") REFERENCES "branch"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "table_definition" ADD CONSTRAINT "table_definition_lookup_display_column_id_fkey" FOREIGN KEY ("lookup_display_column_id") REFERENCES "column_definition"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "column_definition" ADD CONSTRAINT "column_definition_table_definition_id_fkey" FOREIGN KEY ("table_definition_id") REFERENCES "table_definition"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "column_definition" ADD CONSTRAINT "column_definition_foreign_key_table_id_fkey" FOREIGN KEY ("foreign_key_table_id") REFERENCES "table_definition"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "clone_base" ADD CONSTRAINT "clone_base_table_definition_id_fkey" FOREIGN KEY ("table_definition_id") REFERENCES "table_definition"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployed_table_definition" ADD CONSTRAINT "deployed_table_definition_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domain"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployed_table_definition" ADD CONSTRAINT "deployed_table_definition_branch_id_fkey" FOREIGN KEY ("branch_id") REFERENCES "branch"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "table_removal" ADD CONSTRAINT "table_removal_branch_id_fkey" FOREIGN KEY ("branch_id") REFERENCES "branch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployment" ADD CONSTRAINT "deployment_branch_id_fkey" FOREIGN KEY ("branch_id") REFERENCES "branch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployment_table" ADD CONSTRAINT "deployment_table_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployment_action" ADD CONSTRAINT "deployment_action_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
