-- By hand: a write of the API looks its key up again while it holds the lock of its organization, which every change that ends
-- or limits a key takes as well. So none of these changes can be committed between the look-up and the commit of the write.
-- A function, because its second statement has a snapshot of its own, and so sees what was committed while the first waited.
CREATE FUNCTION "key_of_write"("of_organization_id" uuid, "key_id" uuid, "is_locked" boolean)
RETURNS TABLE (
  "organization_name" varchar, "suspended_at" timestamptz, "permissions" varchar[], "expires_at" timestamptz,
  "rotated_at" timestamptz, "revoked_at" timestamptz, "role" role, "deactivated_at" timestamptz
) LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
BEGIN
  IF "is_locked" THEN
    PERFORM 1 FROM "organizations" o WHERE o."id" = "of_organization_id" FOR NO KEY UPDATE;
  END IF;
  RETURN QUERY
    SELECT o."name", o."suspended_at", k."permissions", k."expires_at", k."rotated_at", k."revoked_at", u."role", u."deactivated_at"
    FROM "api_keys" k
    JOIN "users" u ON u."organization_id" = k."organization_id" AND u."id" = k."user_id"
    JOIN "organizations" o ON o."id" = k."organization_id"
    WHERE k."organization_id" = "of_organization_id" AND k."id" = "key_id";
END
$$;

-- By hand: nothing that ends or limits a key can forget the lock, raw SQL included. What changes more than one row takes it
-- first, so that no two wait for each other.
CREATE FUNCTION "lock_organization"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM "organizations" WHERE "id" = OLD."organization_id" FOR NO KEY UPDATE;
  RETURN NEW;
END
$$;
CREATE TRIGGER "api_keys_lock_organization"
  BEFORE UPDATE OF "permissions", "expires_at", "rotated_at", "revoked_at" ON "api_keys"
  FOR EACH ROW EXECUTE FUNCTION "lock_organization"();
CREATE TRIGGER "users_lock_organization" BEFORE UPDATE OF "role", "deactivated_at" ON "users"
  FOR EACH ROW EXECUTE FUNCTION "lock_organization"();
