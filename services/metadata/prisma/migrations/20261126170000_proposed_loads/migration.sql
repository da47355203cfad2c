-- The dry run of an import whose rows a change request begins with; one request for each.
ALTER TABLE "change_request" ADD COLUMN "load_id" TEXT;
CREATE UNIQUE INDEX "change_request_account_id_load_id_key" ON "change_request"("account_id", "load_id");
