-- CreateTable
CREATE TABLE "branch_sight" (
    "account_id" INTEGER NOT NULL,
    "branch_id" INTEGER NOT NULL,
    "is_private" BOOLEAN NOT NULL,
    "owner_id" INTEGER,
    "revision" INTEGER NOT NULL,

    CONSTRAINT "branch_sight_pkey" PRIMARY KEY ("account_id","branch_id")
);
