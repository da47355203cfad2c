import { dangersOf } from './migrations.ts';

describe('migrations beside the last release', () => {
  it.each([
    'ALTER TABLE "job" DROP COLUMN "state";',
    'DROP TABLE "job";',
    'alter table job rename column state to status;',
    'ALTER TABLE "job" RENAME TO "work";',
    'ALTER TABLE "job" ALTER COLUMN "state" SET DATA TYPE JSON USING "state"::json;',
    'ALTER TABLE "job" ALTER COLUMN "state" SET NOT NULL;',
    'ALTER TABLE "job" ADD COLUMN "lane" TEXT NOT NULL;',
    'ALTER TABLE "job" ADD COLUMN "lane" TEXT,\nADD COLUMN "size" INTEGER NOT NULL,\nADD COLUMN "kind" TEXT NOT NULL DEFAULT \'\';',
  ])('%s would break it', (sql) => {
    expect(dangersOf(sql)).toHaveLength(1);
  });

  it.each([
    '-- a word about DROP TABLE\nCREATE TABLE "lane" ("id" INTEGER NOT NULL);',
    'ALTER TABLE "job" ADD COLUMN "lane" TEXT;',
    'ALTER TABLE "job" ADD COLUMN "lane" TEXT NOT NULL DEFAULT \'\', ADD COLUMN "note" TEXT;',
    'CREATE INDEX "job_lane" ON "job"("lane"); DROP INDEX "job_old";',
    'ALTER TABLE "job" ALTER COLUMN "state" DROP NOT NULL;',
  ])('%s does it no harm', (sql) => {
    expect(dangersOf(sql)).toEqual([]);
  });
});
