-- By hand: the failed deliveries of an endpoint, of which there are few.
CREATE INDEX CONCURRENTLY "webhook_deliveries_failed" ON "webhook_deliveries"("organization_id", "endpoint_id", "message_id")
  WHERE "state" = 'failed';
