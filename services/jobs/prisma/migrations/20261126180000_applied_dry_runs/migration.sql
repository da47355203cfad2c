-- What became of a dry run: its file was loaded (rows), or its rows were proposed (change_request).
ALTER TABLE "import_table" ADD COLUMN "applied_as" TEXT, ADD COLUMN "change_request_id" INTEGER;
