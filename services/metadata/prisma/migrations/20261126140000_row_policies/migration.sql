-- How rows change: directly, or by change requests. Of a table: null, as its branch.
ALTER TABLE "branch" ADD COLUMN     "row_changes" TEXT NOT NULL DEFAULT 'direct',
ADD COLUMN     "required_approvals" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "self_approval" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "comment_required" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "machine_imports" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "row_policy_revision" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "confirmed_row_policy_revision" INTEGER NOT NULL DEFAULT 0;

ALTER TABLE "table_definition" ADD COLUMN     "row_changes" TEXT,
ADD COLUMN     "required_approvals" INTEGER,
ADD COLUMN     "self_approval" BOOLEAN,
ADD COLUMN     "comment_required" BOOLEAN,
ADD COLUMN     "machine_imports" BOOLEAN;
