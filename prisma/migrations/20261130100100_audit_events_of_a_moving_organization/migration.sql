-- By hand, all of it: every action of a person or an operator writes an audit event in its transaction. So an action of an
-- organization is committed before the organization begins to move, and is exported with it, or is refused. The start of a move
-- waits for the lock that this function takes, and the function waits for the start.
--
-- Silent where session_replication_role is replica: tools that copy data may copy an organization that is moving.
CREATE FUNCTION "refuse_audit_event_of_moving"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM "organizations" WHERE "id" = NEW."organization_id" FOR KEY SHARE;
  IF "is_moving"(NEW."organization_id") THEN
    RAISE EXCEPTION 'the organization is moving' USING ERRCODE = 'CHMOV';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER "audit_events_while_moving" BEFORE INSERT ON "audit_events"
  FOR EACH ROW EXECUTE FUNCTION "refuse_audit_event_of_moving"();
