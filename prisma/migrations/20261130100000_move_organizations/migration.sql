-- CreateTable
CREATE TABLE "organization_moves" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "suspended_at" TIMESTAMPTZ(3),

    CONSTRAINT "organization_moves_pkey" PRIMARY KEY ("organization_id")
);

-- CreateTable
CREATE TABLE "operator_actions" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "action" VARCHAR(50) NOT NULL,
    "about_id" UUID NOT NULL,
    "about_name" VARCHAR(200) NOT NULL,
    "detail" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "operator_actions_pkey" PRIMARY KEY ("id")
);

-- AddForeignKey
ALTER TABLE "organization_moves" ADD CONSTRAINT "organization_moves_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- By hand:
ALTER TABLE "operator_actions" ADD CONSTRAINT "operator_actions_detail_check" CHECK (jsonb_typeof("detail") = 'object');

-- By hand: a function, because its statement has a snapshot of its own, and so sees what was committed while the statement that
-- calls it waited for the lock of the organization.
CREATE FUNCTION "is_moving"("of_organization_id" uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM "organization_moves" WHERE "organization_id" = "of_organization_id");
END
$$;
