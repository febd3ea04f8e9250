-- By hand: the constraints of a migration before. Validation locks out nobody.
ALTER TABLE "api_keys"
  VALIDATE CONSTRAINT "api_keys_allowed_addresses_check",
  VALIDATE CONSTRAINT "api_keys_requests_per_second_check";
