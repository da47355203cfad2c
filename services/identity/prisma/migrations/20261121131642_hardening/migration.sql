-- AlterTable
ALTER TABLE "oauth_secret" ADD COLUMN     "hint" TEXT,
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "revocation" ADD COLUMN     "scope" TEXT;

-- CreateTable
CREATE TABLE "consent" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "application_id" INTEGER NOT NULL,
    "scope" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "consent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "password_link" (
    "id" SERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "purpose" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "password_link_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_event" (
    "id" BIGSERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "action" TEXT NOT NULL,
    "result" TEXT NOT NULL,
    "user_id" INTEGER,
    "application_id" INTEGER,
    "address" TEXT,
    "resource_type" TEXT,
    "resource_id" INTEGER,
    "before" JSONB,
    "after" JSONB,
    "request_id" TEXT,

    CONSTRAINT "audit_event_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "consent_application_id_idx" ON "consent"("application_id");

-- CreateIndex
CREATE UNIQUE INDEX "consent_user_id_application_id_key" ON "consent"("user_id", "application_id");

-- CreateIndex
CREATE UNIQUE INDEX "password_link_digest_key" ON "password_link"("digest");

-- CreateIndex
CREATE INDEX "password_link_user_id_idx" ON "password_link"("user_id");

-- CreateIndex
CREATE INDEX "password_link_expires_at_idx" ON "password_link"("expires_at");

-- CreateIndex
CREATE INDEX "audit_event_account_id_id_idx" ON "audit_event"("account_id", "id");

-- CreateIndex
CREATE INDEX "audit_event_account_id_action_id_idx" ON "audit_event"("account_id", "action", "id");

-- CreateIndex
CREATE INDEX "audit_event_account_id_user_id_id_idx" ON "audit_event"("account_id", "user_id", "id");

-- CreateIndex
CREATE INDEX "audit_event_account_id_resource_type_resource_id_id_idx" ON "audit_event"("account_id", "resource_type", "resource_id", "id");

-- CreateIndex
CREATE INDEX "user_email_key_idx" ON "user"("email_key");

-- AddForeignKey
ALTER TABLE "consent" ADD CONSTRAINT "consent_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "oauth_application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "consent" ADD CONSTRAINT "consent_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "password_link" ADD CONSTRAINT "password_link_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The audit log only grows: nobody rewrites it by accident, and whoever does it on purpose must take the trigger away first.
CREATE FUNCTION "refuse_change_of_audit_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER "audit_event_append_only" BEFORE UPDATE OR DELETE ON "audit_event"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change_of_audit_event"();

CREATE TRIGGER "audit_event_never_truncated" BEFORE TRUNCATE ON "audit_event"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change_of_audit_event"();
