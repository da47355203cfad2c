-- AlterTable
ALTER TABLE "branch" ADD COLUMN     "revision" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "told_type" TEXT NOT NULL DEFAULT 'shared';
