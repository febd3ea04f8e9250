-- CreateTable
CREATE TABLE "sso_connections" (
    "organization_id" UUID NOT NULL,
    "issuer" VARCHAR(500) NOT NULL,
    "client_id" VARCHAR(255) NOT NULL,
    "client_secret" BYTEA NOT NULL,
    "new_people_role" "role",
    "groups_claim" VARCHAR(100) NOT NULL DEFAULT '',
    "enforced_at" TIMESTAMPTZ(3),
    "break_glass_user_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sso_connections_pkey" PRIMARY KEY ("organization_id")
);

-- CreateTable
CREATE TABLE "sso_domains" (
    "organization_id" UUID NOT NULL,
    "domain" VARCHAR(253) NOT NULL,
    "token" VARCHAR(64) NOT NULL,
    "verified_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sso_domains_pkey" PRIMARY KEY ("organization_id","domain")
);

-- CreateTable
CREATE TABLE "sso_group_roles" (
    "organization_id" UUID NOT NULL,
    "group_name" VARCHAR(255) NOT NULL,
    "role" "role" NOT NULL,

    CONSTRAINT "sso_group_roles_pkey" PRIMARY KEY ("organization_id","group_name")
);

-- CreateTable
CREATE TABLE "sso_identities" (
    "organization_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "issuer" VARCHAR(500) NOT NULL,
    "subject" VARCHAR(255) NOT NULL,
    "linked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sso_identities_pkey" PRIMARY KEY ("organization_id","user_id")
);

-- CreateTable
CREATE TABLE "sso_sign_ins" (
    "organization_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "browser_hash" BYTEA NOT NULL,
    "issuer" VARCHAR(500) NOT NULL,
    "next" VARCHAR(2000) NOT NULL,
    "email" VARCHAR(254) NOT NULL DEFAULT '',
    "link_hash" BYTEA,
    "user_id" UUID,
    "subject" VARCHAR(255),
    "sid" VARCHAR(255) NOT NULL DEFAULT '',
    "group_role" "role",
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sso_sign_ins_pkey" PRIMARY KEY ("organization_id","token_hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "sso_identities_organization_id_issuer_subject_key" ON "sso_identities"("organization_id", "issuer", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "sso_sign_ins_token_hash_key" ON "sso_sign_ins"("token_hash");

-- CreateIndex
CREATE INDEX "sso_sign_ins_created_at_idx" ON "sso_sign_ins"("created_at");

-- AddForeignKey
ALTER TABLE "sso_connections" ADD CONSTRAINT "sso_connections_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sso_domains" ADD CONSTRAINT "sso_domains_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sso_group_roles" ADD CONSTRAINT "sso_group_roles_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "sso_connections"("organization_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sso_identities" ADD CONSTRAINT "sso_identities_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "sso_connections"("organization_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sso_sign_ins" ADD CONSTRAINT "sso_sign_ins_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "sso_connections"("organization_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand: a domain belongs to one organization. Anybody may claim one that is not verified.
CREATE UNIQUE INDEX "sso_domains_verified_key" ON "sso_domains"("domain") WHERE "verified_at" IS NOT NULL;

-- By hand: what the types above cannot say.
ALTER TABLE "sso_connections"
  ADD CONSTRAINT "sso_connections_issuer_check" CHECK ("issuer" ~ '^https?://.'),
  ADD CONSTRAINT "sso_connections_client_id_check" CHECK ("client_id" <> ''),
  ADD CONSTRAINT "sso_connections_client_secret_check" CHECK (octet_length("client_secret") BETWEEN 38 AND 2085 AND get_byte("client_secret", 0) = 1),
  ADD CONSTRAINT "sso_connections_new_people_role_check" CHECK ("new_people_role" IN ('viewer', 'member')),
  ADD CONSTRAINT "sso_connections_enforced_check" CHECK (("enforced_at" IS NULL) = ("break_glass_user_id" IS NULL));
ALTER TABLE "sso_domains"
  ADD CONSTRAINT "sso_domains_domain_check" CHECK ("domain" = lower("domain") AND "domain" LIKE '%_._%'),
  ADD CONSTRAINT "sso_domains_token_check" CHECK (length("token") >= 32);
ALTER TABLE "sso_group_roles"
  ADD CONSTRAINT "sso_group_roles_group_name_check" CHECK ("group_name" <> ''),
  ADD CONSTRAINT "sso_group_roles_role_check" CHECK ("role" IN ('viewer', 'member', 'manager'));
ALTER TABLE "sso_identities"
  ADD CONSTRAINT "sso_identities_subject_check" CHECK ("subject" <> '');
ALTER TABLE "sso_sign_ins"
  ADD CONSTRAINT "sso_sign_ins_token_hash_check" CHECK (octet_length("token_hash") = 32),
  ADD CONSTRAINT "sso_sign_ins_browser_hash_check" CHECK (octet_length("browser_hash") = 32),
  ADD CONSTRAINT "sso_sign_ins_link_hash_check" CHECK (octet_length("link_hash") = 32),
  ADD CONSTRAINT "sso_sign_ins_user_check" CHECK (("user_id" IS NULL) = ("subject" IS NULL)),
  ADD CONSTRAINT "sso_sign_ins_group_role_check" CHECK ("group_role" IN ('viewer', 'member', 'manager'));

-- By hand: like every other secret (20261122204500_encrypt_secrets).
CREATE TRIGGER "sso_connections_encryption_key" BEFORE INSERT OR UPDATE OF "client_secret" ON "sso_connections"
  FOR EACH ROW EXECUTE FUNCTION "require_encryption_key"('client_secret');
