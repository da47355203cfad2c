-- CreateTable
CREATE TABLE "console_usage" (
    "account_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "user_id" INTEGER NOT NULL,
    "method" TEXT NOT NULL,
    "resource" TEXT NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "console_usage_pkey" PRIMARY KEY ("account_id","day","user_id","method","resource")
);
