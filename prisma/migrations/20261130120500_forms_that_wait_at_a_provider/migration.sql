-- AlterTable
ALTER TABLE "sso_sign_ins" DROP COLUMN "is_proof",
ADD COLUMN     "sealed_form" BYTEA;

-- By hand: what the type above cannot say. The limit is that of a request with such a form (src/dashboard/proof/proven.ts).
ALTER TABLE "sso_sign_ins"
  ADD CONSTRAINT "sso_sign_ins_sealed_form_check" CHECK (octet_length("sealed_form") BETWEEN 38 AND 18432) NOT VALID;
