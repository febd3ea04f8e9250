-- By hand: an invitation takes an e-mail from nobody.
CREATE UNIQUE INDEX CONCURRENTLY "users_accepted_email_key" ON "users"("email") WHERE "has_accepted";
