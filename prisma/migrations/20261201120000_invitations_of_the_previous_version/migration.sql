-- By hand, all of it: a server of the previous version does not know "has_accepted", so the people whom it invites would have accepted
-- at once, and would keep the e-mail. The audit event of a new user has the role. A migration of the version after this one drops this.
CREATE FUNCTION "mark_invited"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "users" SET "has_accepted" = false
  WHERE "organization_id" = NEW."organization_id" AND "id" = NEW."target_user_id" AND "has_accepted" AND "password_hash" IS NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER "audit_events_mark_invited" AFTER INSERT ON "audit_events"
  FOR EACH ROW WHEN (NEW."act" = 'user.invited' AND NEW."detail" ? 'role') EXECUTE FUNCTION "mark_invited"();
