-- By hand: people choose an integration by its name. The list of integrations is in the order of this index.
CREATE UNIQUE INDEX CONCURRENTLY "users_integration_name_key" ON "users"(
  "organization_id", lower("name" COLLATE pg_catalog."default")
) WHERE "kind" = 'integration';
