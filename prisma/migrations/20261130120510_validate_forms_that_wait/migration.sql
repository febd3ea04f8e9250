-- By hand: the constraint of the migration before. Validation locks out nobody.
ALTER TABLE "sso_sign_ins"
  VALIDATE CONSTRAINT "sso_sign_ins_sealed_form_check";
