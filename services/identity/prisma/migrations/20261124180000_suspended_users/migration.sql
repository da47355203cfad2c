-- A user can be suspended. `disabled` was never set by us; rows that somebody else has made so stay as they are.
ALTER TABLE "user" DROP CONSTRAINT "user_status_check";
ALTER TABLE "user" ADD CONSTRAINT "user_status_check" CHECK ("status" IN ('invited', 'active', 'suspended', 'disabled'));
