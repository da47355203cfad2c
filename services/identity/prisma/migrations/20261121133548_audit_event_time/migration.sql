-- CreateIndex
CREATE INDEX "audit_event_account_id_occurred_at_idx" ON "audit_event"("account_id", "occurred_at");
