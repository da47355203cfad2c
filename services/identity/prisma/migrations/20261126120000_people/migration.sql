-- AlterTable
-- Code of the release before doesn't write it: PostgreSQL derives it.
ALTER TABLE "user" ADD COLUMN     "name" TEXT GENERATED ALWAYS AS (btrim("first_name" || ' ' || "last_name")) STORED;

-- CreateSequence
CREATE SEQUENCE "session_id_seq" AS INTEGER;

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "address" TEXT,
ADD COLUMN     "id" INTEGER NOT NULL DEFAULT nextval('session_id_seq'),
ADD COLUMN     "user_agent" TEXT;

-- AlterSequence
ALTER SEQUENCE "session_id_seq" OWNED BY "session"."id";

-- CreateTable
CREATE TABLE "user_preference" (
    "user_id" INTEGER NOT NULL,
    "account_id" INTEGER NOT NULL,
    "preferences" JSON NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_preference_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "user_preference_account_id_idx" ON "user_preference"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "session_id_key" ON "session"("id");

-- AddForeignKey
ALTER TABLE "user_preference" ADD CONSTRAINT "user_preference_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
