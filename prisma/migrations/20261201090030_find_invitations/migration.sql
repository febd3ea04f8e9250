-- By hand: finds who was invited by e-mail, and by its domain.
CREATE INDEX CONCURRENTLY "users_invited_email_idx" ON "users"(split_part("email", '@', 2), "email") WHERE NOT "has_accepted";
