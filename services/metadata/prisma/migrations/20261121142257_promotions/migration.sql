-- DropForeignKey
ALTER TABLE "clone_base" DROP CONSTRAINT "clone_base_table_definition_id_fkey";

-- AlterTable
ALTER TABLE "clone_base" DROP CONSTRAINT "clone_base_pkey",
ADD CONSTRAINT "clone_base_pkey" PRIMARY KEY ("table_definition_id", "source_id");

-- CreateTable
CREATE TABLE "deleted_table_definition" (
    "id" INTEGER NOT NULL,
    "account_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "domain_id" INTEGER NOT NULL,
    "lineage_id" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deleted_table_definition_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "promotion" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "from_branch_id" INTEGER NOT NULL,
    "to_branch_id" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'created',
    "created_by" INTEGER,
    "approved_by" INTEGER,
    "promoted_by" INTEGER,
    "comment" TEXT,
    "error" TEXT,
    "diffs" JSONB,
    "conflicts" JSONB,
    "revision" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "promoted_at" TIMESTAMPTZ(3),

    CONSTRAINT "promotion_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "promotion_table" (
    "promotion_id" INTEGER NOT NULL,
    "table_definition_id" INTEGER NOT NULL,
    "source_version" INTEGER,
    "target_definition_id" INTEGER,
    "target_version" INTEGER,
    "domain_id" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "promotion_table_pkey" PRIMARY KEY ("promotion_id","table_definition_id")
);

-- CreateTable
CREATE TABLE "promotion_action" (
    "id" SERIAL NOT NULL,
    "promotion_id" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "user_id" INTEGER,
    "comment" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promotion_action_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "deleted_table_definition_branch_id_lineage_id_idx" ON "deleted_table_definition"("branch_id", "lineage_id");

-- CreateIndex
CREATE INDEX "promotion_account_id_idx" ON "promotion"("account_id");

-- CreateIndex
CREATE INDEX "promotion_to_branch_id_idx" ON "promotion"("to_branch_id");

-- CreateIndex
CREATE INDEX "promotion_table_table_definition_id_idx" ON "promotion_table"("table_definition_id");

-- CreateIndex
CREATE INDEX "promotion_table_target_definition_id_idx" ON "promotion_table"("target_definition_id");

-- CreateIndex
CREATE INDEX "promotion_action_promotion_id_idx" ON "promotion_action"("promotion_id");

-- CreateIndex
CREATE INDEX "clone_base_source_id_idx" ON "clone_base"("source_id");

-- AddForeignKey
ALTER TABLE "deleted_table_definition" ADD CONSTRAINT "deleted_table_definition_branch_id_fkey" FOREIGN KEY ("branch_id") REFERENCES "branch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promotion" ADD CONSTRAINT "promotion_to_branch_id_fkey" FOREIGN KEY ("to_branch_id") REFERENCES "branch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promotion_table" ADD CONSTRAINT "promotion_table_promotion_id_fkey" FOREIGN KEY ("promotion_id") REFERENCES "promotion"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promotion_action" ADD CONSTRAINT "promotion_action_promotion_id_fkey" FOREIGN KEY ("promotion_id") REFERENCES "promotion"("id") ON DELETE CASCADE ON UPDATE CASCADE;
