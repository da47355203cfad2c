-- CreateTable
CREATE TABLE "data_import" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "correlation_code" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'created',
    "user_id" INTEGER,
    "application_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "data_import_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_table" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "import_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "table_definition_key" TEXT NOT NULL,
    "domain_id" INTEGER NOT NULL,
    "pattern" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "on_error" TEXT NOT NULL,
    "dry_run" BOOLEAN NOT NULL,
    "allow_mass_delete" BOOLEAN NOT NULL,
    "mass_delete_percent" INTEGER NOT NULL,
    "import_mapping_id" INTEGER,
    "mapping" JSONB,
    "file_size" BIGINT,
    "status" TEXT NOT NULL DEFAULT 'created',
    "object_key" TEXT NOT NULL,
    "upload_expires_at" TIMESTAMPTZ(3) NOT NULL,
    "object_size" BIGINT,
    "object_etag" TEXT,
    "load_id" UUID NOT NULL,
    "bytes_processed" BIGINT NOT NULL DEFAULT 0,
    "rows_processed" BIGINT NOT NULL DEFAULT 0,
    "rows_read" BIGINT,
    "rows_inserted" BIGINT,
    "rows_updated" BIGINT,
    "rows_deleted" BIGINT,
    "rows_unchanged" BIGINT,
    "rows_rejected" BIGINT,
    "duration_ms" BIGINT,
    "rejections" JSONB NOT NULL DEFAULT '[]',
    "errors" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "rejected_key" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "import_table_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_action" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "import_id" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "user_id" INTEGER,
    "application_id" INTEGER,
    "comment" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "import_action_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "data_export" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "table_definition_key" TEXT NOT NULL,
    "domain_id" INTEGER NOT NULL,
    "pattern" TEXT NOT NULL,
    "high_water_mark" TEXT,
    "gzip" BOOLEAN NOT NULL DEFAULT false,
    "safe_cells" BOOLEAN NOT NULL DEFAULT false,
    "correlation_code" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'created',
    "error" TEXT,
    "object_key" TEXT,
    "rows_exported" BIGINT,
    "bytes_exported" BIGINT,
    "next_high_water_mark" TEXT,
    "user_id" INTEGER,
    "application_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "file_expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "data_export_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_mapping" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "date_style" TEXT NOT NULL DEFAULT 'ISO',
    "delimiter" TEXT,
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "column_mappings" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "import_mapping_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "subject_id" INTEGER NOT NULL,
    "group_id" INTEGER,
    "state" TEXT NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "deferrals" INTEGER NOT NULL DEFAULT 0,
    "run_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "run_id" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "heartbeat_at" TIMESTAMPTZ(3),
    "give_up_at" TIMESTAMPTZ(3) NOT NULL,
    "error" TEXT,
    "request_id" TEXT,
    "user_id" INTEGER,
    "application_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "stored_object" (
    "key" TEXT NOT NULL,
    "account_id" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "stored_object_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "account_id" INTEGER NOT NULL,
    "operation" TEXT NOT NULL,
    "caller" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "resource_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("account_id","operation","caller","key")
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
CREATE INDEX "data_import_account_id_status_idx" ON "data_import"("account_id", "status");

-- CreateIndex
CREATE INDEX "data_import_account_id_correlation_code_idx" ON "data_import"("account_id", "correlation_code");

-- CreateIndex
CREATE UNIQUE INDEX "import_table_object_key_key" ON "import_table"("object_key");

-- CreateIndex
CREATE INDEX "import_table_account_id_table_definition_id_idx" ON "import_table"("account_id", "table_definition_id");

-- CreateIndex
CREATE UNIQUE INDEX "import_table_import_id_table_definition_id_key" ON "import_table"("import_id", "table_definition_id");

-- CreateIndex
CREATE INDEX "import_action_import_id_idx" ON "import_action"("import_id");

-- CreateIndex
CREATE UNIQUE INDEX "data_export_object_key_key" ON "data_export"("object_key");

-- CreateIndex
CREATE INDEX "data_export_account_id_status_idx" ON "data_export"("account_id", "status");

-- CreateIndex
CREATE INDEX "data_export_account_id_table_definition_key_idx" ON "data_export"("account_id", "table_definition_key");

-- CreateIndex
CREATE UNIQUE INDEX "import_mapping_account_id_table_definition_id_name_key" ON "import_mapping"("account_id", "table_definition_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "import_mapping_one_default" ON "import_mapping"("account_id", "table_definition_id") WHERE (is_default);

-- CreateIndex
CREATE INDEX "job_state_run_at_idx" ON "job"("state", "run_at");

-- CreateIndex
CREATE INDEX "job_group_id_idx" ON "job"("group_id");

-- CreateIndex
CREATE UNIQUE INDEX "job_kind_subject_id_key" ON "job"("kind", "subject_id");

-- CreateIndex
CREATE INDEX "stored_object_expires_at_idx" ON "stored_object"("expires_at");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_message_id_key" ON "outbox"("message_id");

-- CreateIndex
CREATE INDEX "inbox_received_at_idx" ON "inbox"("received_at");

-- AddForeignKey
ALTER TABLE "import_table" ADD CONSTRAINT "import_table_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "data_import"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_action" ADD CONSTRAINT "import_action_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "data_import"("id") ON DELETE CASCADE ON UPDATE CASCADE;
