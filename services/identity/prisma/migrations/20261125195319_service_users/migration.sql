-- AlterTable
ALTER TABLE "refresh_token" ADD COLUMN     "parent_id" BIGINT;

-- AlterTable
ALTER TABLE "token_family" ADD COLUMN     "ends_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "user" ADD COLUMN     "user_type" TEXT NOT NULL DEFAULT 'person';

-- A service user never logs in: no code, of this release or the one before it, can give it a password or an invitation.
ALTER TABLE "user" ADD CONSTRAINT "user_type_check" CHECK (
    "user_type" = 'person' OR "user_type" = 'service' AND "password_hash" IS NULL AND "status" IN ('active', 'suspended'));
