-- Kept as they were shown: jsonb would put their members into an order of its own.
ALTER TABLE "deployment" ALTER COLUMN "diffs" SET DATA TYPE JSON USING "diffs"::json;
ALTER TABLE "promotion" ALTER COLUMN "diffs" SET DATA TYPE JSON USING "diffs"::json,
  ALTER COLUMN "conflicts" SET DATA TYPE JSON USING "conflicts"::json;
