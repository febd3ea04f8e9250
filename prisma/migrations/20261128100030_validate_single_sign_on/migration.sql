-- By hand: the constraints of an earlier migration. Validation locks out nobody.
ALTER TABLE "sso_connections"
  VALIDATE CONSTRAINT "sso_connections_organization_id_break_glass_user_id_fkey";
ALTER TABLE "sso_identities"
  VALIDATE CONSTRAINT "sso_identities_organization_id_user_id_fkey";
ALTER TABLE "sso_sign_ins"
  VALIDATE CONSTRAINT "sso_sign_ins_organization_id_user_id_fkey";
