-- How many rows a promotion would change, as the last rehearsal counted them.
ALTER TABLE "promotion" ADD COLUMN     "row_counts" JSONB;
