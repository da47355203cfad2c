-- CreateTable
CREATE TABLE "saved_view" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "owner_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "sharing" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "saved_view_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "saved_view_default" (
    "account_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "view_id" INTEGER NOT NULL,

    CONSTRAINT "saved_view_default_pkey" PRIMARY KEY ("account_id","table_definition_id","user_id")
);

-- CreateIndex
CREATE INDEX "saved_view_account_id_table_definition_id_idx" ON "saved_view"("account_id", "table_definition_id");

-- CreateIndex
CREATE INDEX "saved_view_account_id_owner_id_idx" ON "saved_view"("account_id", "owner_id");

-- CreateIndex
CREATE INDEX "saved_view_table_definition_id_idx" ON "saved_view"("table_definition_id");

-- CreateIndex
CREATE INDEX "saved_view_branch_id_idx" ON "saved_view"("branch_id");

-- CreateIndex
CREATE INDEX "saved_view_default_view_id_idx" ON "saved_view_default"("view_id");

-- AddForeignKey
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_branch_id_fkey" FOREIGN KEY ("branch_id") REFERENCES "branch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "saved_view_default" ADD CONSTRAINT "saved_view_default_view_id_fkey" FOREIGN KEY ("view_id") REFERENCES "saved_view"("id") ON DELETE CASCADE ON UPDATE CASCADE;
