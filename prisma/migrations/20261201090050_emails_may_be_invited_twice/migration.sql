-- By hand: users_accepted_email_key replaces it.
DROP INDEX CONCURRENTLY "users_email_key";
