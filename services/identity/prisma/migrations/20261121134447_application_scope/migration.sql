-- What tokens of an application may still do is told like a revocation; it is the only kind that names scopes.
ALTER TABLE "revocation" DROP CONSTRAINT "revocation_kind_check";
ALTER TABLE "revocation" ADD CONSTRAINT "revocation_kind_check"
  CHECK ("kind" IN ('token', 'application', 'user', 'account', 'application_scope'));
ALTER TABLE "revocation" ADD CONSTRAINT "revocation_scope_check"
  CHECK (("kind" = 'application_scope') = ("scope" IS NOT NULL));
