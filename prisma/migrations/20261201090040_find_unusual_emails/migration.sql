-- By hand: finds the e-mails whose domain is not in its normal form (src/domain/email.ts). Usually there are none.
CREATE INDEX CONCURRENTLY "users_unusual_email_idx" ON "users"("email") WHERE "email" ~ '@.*[^ -~]' OR "email" LIKE '%.';
