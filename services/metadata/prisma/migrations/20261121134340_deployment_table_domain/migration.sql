-- AlterTable
ALTER TABLE "deployment_table" ADD COLUMN     "domain_id" INTEGER NOT NULL DEFAULT 0;

-- Of deployments that are there already: what the draft says, else what is in service.
UPDATE "deployment_table" SET "domain_id" = "deployed_table_definition"."domain_id" FROM "deployed_table_definition"
WHERE "deployed_table_definition"."id" = "deployment_table"."table_definition_id";

UPDATE "deployment_table" SET "domain_id" = "table_definition"."domain_id" FROM "table_definition"
WHERE "table_definition"."id" = "deployment_table"."table_definition_id";
