-- CreateIndex
CREATE INDEX "api_keys_organization_id_successor_id_idx" ON "api_keys"("organization_id", "successor_id");

-- CreateIndex
CREATE INDEX "api_keys_key_prefix_idx" ON "api_keys"("key_prefix");

-- CreateIndex
CREATE INDEX "audit_events_organization_id_key_id_id_idx" ON "audit_events"("organization_id", "key_id", "id");
