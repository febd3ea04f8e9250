-- By hand: the constraints of the migration before. Validation locks out nobody.
ALTER TABLE "users"
  VALIDATE CONSTRAINT "users_organization_id_owner_user_id_fkey",
  VALIDATE CONSTRAINT "users_integration_email_check",
  VALIDATE CONSTRAINT "users_integration_owner_check",
  VALIDATE CONSTRAINT "users_integration_role_check",
  VALIDATE CONSTRAINT "users_integration_sign_in_check",
  VALIDATE CONSTRAINT "users_person_notes_check",
  VALIDATE CONSTRAINT "users_notice_email_check";
ALTER TABLE "api_keys"
  VALIDATE CONSTRAINT "api_keys_organization_id_moved_from_user_id_fkey",
  VALIDATE CONSTRAINT "api_keys_moved_check";
