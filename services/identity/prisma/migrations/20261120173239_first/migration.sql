-- CreateTable
CREATE TABLE "account" (
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "date_style" TEXT NOT NULL DEFAULT 'ISO',
    "status" TEXT NOT NULL DEFAULT 'active',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "first_name" TEXT NOT NULL DEFAULT '',
    "last_name" TEXT NOT NULL DEFAULT '',
    "email" TEXT NOT NULL,
    "email_key" TEXT NOT NULL,
    "license_type" TEXT NOT NULL DEFAULT 'developer',
    "status" TEXT NOT NULL DEFAULT 'invited',
    "password_hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_group" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "system_key" TEXT,
    "name_key" TEXT,
    "resource_type" TEXT,
    "resource_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_group_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "permission" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "user_group_id" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" INTEGER NOT NULL,

    CONSTRAINT "permission_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_group_assignment" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "user_group_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_group_assignment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deleted_resource" (
    "account_id" INTEGER NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" INTEGER NOT NULL,

    CONSTRAINT "deleted_resource_pkey" PRIMARY KEY ("account_id","resource_type","resource_id")
);

-- CreateTable
CREATE TABLE "oauth_application" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL DEFAULT '',
    "confidential" BOOLEAN NOT NULL DEFAULT true,
    "scopes" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_application_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "oauth_secret" (
    "id" SERIAL NOT NULL,
    "application_id" INTEGER NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_secret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "authorization_code" (
    "id" SERIAL NOT NULL,
    "application_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "family_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "code_challenge" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "authorization_code_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "token_family" (
    "id" UUID NOT NULL,
    "account_id" INTEGER NOT NULL,
    "application_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "scope" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "revoke_reason" TEXT,

    CONSTRAINT "token_family_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "refresh_token" (
    "id" BIGSERIAL NOT NULL,
    "family_id" UUID NOT NULL,
    "digest" BYTEA NOT NULL,
    "access_token_id" TEXT NOT NULL,
    "access_expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "refresh_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "revocation" (
    "id" BIGSERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "issued_before" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "revocation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "signing_key" (
    "id" SERIAL NOT NULL,
    "kid" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "private_key" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "activated_at" TIMESTAMPTZ(3),
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "digest" BYTEA NOT NULL,
    "account_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "rate_limit" (
    "key" VARCHAR(255) NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "rate_limit_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "message_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "request_id" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inbox" (
    "consumer" TEXT NOT NULL,
    "message_id" UUID NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer","message_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "user_account_id_email_key_key" ON "user"("account_id", "email_key");

-- CreateIndex
CREATE INDEX "user_group_account_id_resource_type_resource_id_idx" ON "user_group"("account_id", "resource_type", "resource_id");

-- CreateIndex
CREATE UNIQUE INDEX "user_group_account_id_system_key_key" ON "user_group"("account_id", "system_key");

-- CreateIndex
CREATE UNIQUE INDEX "user_group_account_id_name_key_key" ON "user_group"("account_id", "name_key");

-- CreateIndex
CREATE INDEX "permission_account_id_resource_type_resource_id_idx" ON "permission"("account_id", "resource_type", "resource_id");

-- CreateIndex
CREATE UNIQUE INDEX "permission_user_group_id_action_resource_type_resource_id_key" ON "permission"("user_group_id", "action", "resource_type", "resource_id");

-- CreateIndex
CREATE INDEX "user_group_assignment_user_group_id_idx" ON "user_group_assignment"("user_group_id");

-- CreateIndex
CREATE INDEX "user_group_assignment_account_id_idx" ON "user_group_assignment"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "user_group_assignment_user_id_user_group_id_key" ON "user_group_assignment"("user_id", "user_group_id");

-- CreateIndex
CREATE UNIQUE INDEX "oauth_application_client_id_key" ON "oauth_application"("client_id");

-- CreateIndex
CREATE INDEX "oauth_application_account_id_idx" ON "oauth_application"("account_id");

-- CreateIndex
CREATE INDEX "oauth_secret_application_id_idx" ON "oauth_secret"("application_id");

-- CreateIndex
CREATE UNIQUE INDEX "authorization_code_digest_key" ON "authorization_code"("digest");

-- CreateIndex
CREATE INDEX "authorization_code_application_id_idx" ON "authorization_code"("application_id");

-- CreateIndex
CREATE INDEX "authorization_code_user_id_idx" ON "authorization_code"("user_id");

-- CreateIndex
CREATE INDEX "authorization_code_expires_at_idx" ON "authorization_code"("expires_at");

-- CreateIndex
CREATE INDEX "token_family_application_id_idx" ON "token_family"("application_id");

-- CreateIndex
CREATE INDEX "token_family_user_id_idx" ON "token_family"("user_id");

-- CreateIndex
CREATE INDEX "token_family_expires_at_idx" ON "token_family"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "refresh_token_digest_key" ON "refresh_token"("digest");

-- CreateIndex
CREATE INDEX "refresh_token_family_id_idx" ON "refresh_token"("family_id");

-- CreateIndex
CREATE INDEX "revocation_expires_at_idx" ON "revocation"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "revocation_kind_subject_key" ON "revocation"("kind", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "signing_key_kid_key" ON "signing_key"("kid");

-- CreateIndex
CREATE INDEX "session_user_id_idx" ON "session"("user_id");

-- CreateIndex
CREATE INDEX "session_expires_at_idx" ON "session"("expires_at");

-- CreateIndex
CREATE INDEX "rate_limit_expire_idx" ON "rate_limit"("expire");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_message_id_key" ON "outbox"("message_id");

-- CreateIndex
CREATE INDEX "inbox_received_at_idx" ON "inbox"("received_at");

-- AddForeignKey
ALTER TABLE "user" ADD CONSTRAINT "user_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_group" ADD CONSTRAINT "user_group_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "permission" ADD CONSTRAINT "permission_user_group_id_fkey" FOREIGN KEY ("user_group_id") REFERENCES "user_group"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_group_assignment" ADD CONSTRAINT "user_group_assignment_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_group_assignment" ADD CONSTRAINT "user_group_assignment_user_group_id_fkey" FOREIGN KEY ("user_group_id") REFERENCES "user_group"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "oauth_application" ADD CONSTRAINT "oauth_application_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "oauth_secret" ADD CONSTRAINT "oauth_secret_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "oauth_application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "authorization_code" ADD CONSTRAINT "authorization_code_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "oauth_application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "authorization_code" ADD CONSTRAINT "authorization_code_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token_family" ADD CONSTRAINT "token_family_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "oauth_application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token_family" ADD CONSTRAINT "token_family_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refresh_token" ADD CONSTRAINT "refresh_token_family_id_fkey" FOREIGN KEY ("family_id") REFERENCES "token_family"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The words a column may hold; Prisma has no notation for these.
ALTER TABLE "account" ADD CONSTRAINT "account_status_check" CHECK ("status" IN ('active', 'closed'));
ALTER TABLE "account" ADD CONSTRAINT "account_date_style_check" CHECK ("date_style" IN ('MDY', 'DMY', 'ISO'));
ALTER TABLE "user" ADD CONSTRAINT "user_status_check" CHECK ("status" IN ('invited', 'active', 'disabled'));
ALTER TABLE "user" ADD CONSTRAINT "user_license_type_check" CHECK ("license_type" IN ('developer', 'end_user'));
ALTER TABLE "permission" ADD CONSTRAINT "permission_action_check"
  CHECK ("action" IN ('admin', 'develop', 'edit', 'view', 'approve'));
ALTER TABLE "permission" ADD CONSTRAINT "permission_resource_type_check"
  CHECK ("resource_type" IN ('account', 'domain', 'branch', 'table_definition'));
ALTER TABLE "revocation" ADD CONSTRAINT "revocation_kind_check"
  CHECK ("kind" IN ('token', 'application', 'user', 'account'));
