-- CreateTable
CREATE TABLE "finished_backup" (
    "taken_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "finished_backup_pkey" PRIMARY KEY ("taken_at")
);
