-- By hand, all of it: while an organization leaves, what ends a key, a session or an account is carried out nevertheless. Its audit
-- event names the move, so that the other database carries it out, too, before it serves the organization. The events are listed in
-- src/store/revocations-of-move.ts.
CREATE OR REPLACE FUNCTION "refuse_audit_event_of_moving"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "move" "organization_moves"%ROWTYPE;
BEGIN
  PERFORM 1 FROM "organizations" WHERE "id" = NEW."organization_id" FOR KEY SHARE;
  SELECT * INTO "move" FROM "organization_moves" WHERE "organization_id" = NEW."organization_id";
  IF NOT FOUND THEN
    RETURN NEW;
  END IF;
  IF "move"."stage" = 'leaving' AND NEW."act" IN (
    'key.revoked', 'user.deactivated', 'integration.suspended', 'integration.owner_changed',
    'user.signed_out', 'user.session_ended', 'user.signed_out_everywhere'
  ) THEN
    NEW."detail" = NEW."detail" || jsonb_build_object('during_move', "move"."id");
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the organization is moving' USING ERRCODE = 'CHMOV';
END
$$;
