-- AlterTable
ALTER TABLE "clone_base" ADD COLUMN     "account_id" INTEGER NOT NULL DEFAULT 0;

UPDATE "clone_base" SET "account_id" = t."account_id" FROM "table_definition" t WHERE t."id" = "clone_base"."table_definition_id";
