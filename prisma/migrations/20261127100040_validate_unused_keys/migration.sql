-- By hand: the constraint of a migration before. Validation locks out nobody.
ALTER TABLE "organizations" VALIDATE CONSTRAINT "organizations_ends_unused_check";
