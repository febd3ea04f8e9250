-- By hand: "key_and_time_of_write", which servers of the previous version call, with the addresses from which the key may be used.
CREATE FUNCTION "key_and_addresses_of_write"("of_organization_id" uuid, "key_id" uuid, "is_locked" boolean)
RETURNS TABLE (
  "organization_name" varchar, "suspended_at" timestamptz, "permissions" varchar[], "expires_at" timestamptz,
  "expired_at" timestamptz, "rotated_at" timestamptz, "revoked_at" timestamptz, "allowed_addresses" varchar[], "role" role,
  "deactivated_at" timestamptz, "time_of_write" timestamptz
) LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
BEGIN
  IF "is_locked" THEN
    PERFORM 1 FROM "organizations" o WHERE o."id" = "of_organization_id" FOR NO KEY UPDATE;
  END IF;
  RETURN QUERY
    SELECT o."name", o."suspended_at", k."permissions", k."expires_at", k."expired_at", k."rotated_at", k."revoked_at",
      k."allowed_addresses", u."role", u."deactivated_at",
      greatest(clock_timestamp(), to_timestamp(o."version" / 1000000.0))
    FROM "api_keys" k
    JOIN "users" u ON u."organization_id" = k."organization_id" AND u."id" = k."user_id"
    JOIN "organizations" o ON o."id" = k."organization_id"
    WHERE k."organization_id" = "of_organization_id" AND k."id" = "key_id";
END
$$;
