-- By hand, all of it. A migration of its own, because it waits for transactions that write events, and those of deletions wait
-- for organizations, which the migration before this one locks.
--
-- Every event that an endpoint wants has a delivery, whoever wrote the event. Silent where session_replication_role is
-- replica: tools that copy data copy the deliveries, too.
CREATE FUNCTION "write_webhook_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "webhook_deliveries" ("organization_id", "endpoint_id", "message_id")
  SELECT e."organization_id", w."id", e."id"
  FROM "written" e JOIN "webhook_endpoints" w ON w."organization_id" = e."organization_id"
  WHERE w."disabled_at" IS NULL AND e."type" = ANY (w."event_types");
  RETURN NULL;
END
$$;
CREATE TRIGGER "events_write_webhook_deliveries" AFTER INSERT ON "events"
  REFERENCING NEW TABLE AS "written" FOR EACH STATEMENT EXECUTE FUNCTION "write_webhook_deliveries"();
