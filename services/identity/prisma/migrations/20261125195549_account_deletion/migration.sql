-- CreateTable
CREATE TABLE "account_deletion" (
    "account_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'closed',
    "requested_by" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "closed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "erase_after" TIMESTAMPTZ(3) NOT NULL,
    "asked_at" TIMESTAMPTZ(3),
    "erased_at" TIMESTAMPTZ(3),
    "receipt" TEXT,

    CONSTRAINT "account_deletion_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "erasure_report" (
    "account_id" INTEGER NOT NULL,
    "service" TEXT NOT NULL,
    "counts" JSONB NOT NULL,
    "facts" JSONB NOT NULL DEFAULT '{}',
    "reported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "erasure_report_pkey" PRIMARY KEY ("account_id","service")
);

-- CreateTable
CREATE TABLE "account_erasure" (
    "account_id" INTEGER NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "facts" JSONB,
    "counts" JSONB NOT NULL DEFAULT '{}',
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "account_erasure_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE INDEX "account_deletion_status_erase_after_idx" ON "account_deletion"("status", "erase_after");

-- The audit log stays append-only, except for accounts that are being erased: their entries may be
-- deleted, and still never be changed.
CREATE OR REPLACE FUNCTION "refuse_change_of_audit_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT FROM "account_deletion" d WHERE d."account_id" = OLD."account_id" AND d."status" IN ('erasing', 'erased')) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'insufficient_privilege';
END
$$;
