import type { Fault } from '../fault.ts';

const INIT = 'prisma/migrations/20261120120000_init/migration.sql';
const VERSION = 'prisma/migrations/20261120154233_organization_version/migration.sql';
const NEVER_AGAIN = 'prisma/migrations/20261121204500_a_version_never_comes_again/migration.sql';
const BUMP_ONCE = 'prisma/migrations/20261121174500_bump_once_an_update/migration.sql';
const SET_BACK = 'prisma/migrations/20261123110000_clocks_that_are_set_back/migration.sql';
const KEYS = 'prisma/migrations/20261120131851_people_and_keys/migration.sql';
const SCHEMA = 'prisma/schema.prisma';

/** Faults in the database: it differs from the schema or from the contract. */
export const DATABASE_FAULTS: readonly Fault[] = [
  {
    title: 'a migration makes a column narrower',
    edits: [{ file: INIT, find: '"description" VARCHAR(10000)', replace: '"description" VARCHAR(1000)' }],
    caughtBy: 'migrations',
  },
  {
    title: 'a migration makes a nullable column NOT NULL',
    edits: [{ file: INIT, find: '"external_id" VARCHAR(255),', replace: '"external_id" VARCHAR(255) NOT NULL,' }],
    caughtBy: 'migrations',
  },
  {
    title: 'a migration lacks a unique index',
    edits: [
      {
        file: INIT,
        find: 'CREATE UNIQUE INDEX "parent_programs_organization_id_external_id_key"',
        replace: 'CREATE INDEX "parent_programs_organization_id_external_id_key"',
      },
    ],
    caughtBy: 'migrations',
  },
  {
    title: 'the schema has a column without a migration',
    edits: [
      {
        file: SCHEMA,
        find: '  suspendedAt DateTime? @map("suspended_at") @db.Timestamptz(3)\n',
        replace: '  suspendedAt DateTime? @map("suspended_at") @db.Timestamptz(3)\n  note        String?\n',
      },
    ],
    caughtBy: 'migrations',
  },
  {
    title: 'a change after the clock of PostgreSQL was set back has an earlier time',
    edits: [
      {
        file: SET_BACK,
        find: 'greatest(clock_timestamp(), to_timestamp(o."version" / 1000000.0))',
        replace: 'clock_timestamp()',
      },
    ],
    caughtBy: 'test/api/clocks.test.ts',
  },
  {
    title: 'a new row has the time of PostgreSQL, not that of the write',
    edits: [
      {
        file: 'src/store/table.ts',
        find: ', time_of_write, time_of_write from writer',
        replace: ', clock_timestamp(), clock_timestamp() from writer',
      },
    ],
    caughtBy: 'test/api/clocks.test.ts',
  },
  {
    title: 'an updated row has the time of PostgreSQL, not that of the write',
    edits: [
      {
        file: 'src/store/rows.ts',
        find: 'greatest(time_of_write::timestamptz(3)',
        replace: 'greatest(clock_timestamp()::timestamptz(3)',
      },
    ],
    caughtBy: 'test/api/clocks.test.ts',
  },
  {
    title: 'a foreign key does not carry the organization',
    edits: [
      {
        file: INIT,
        find: 'CREATE UNIQUE INDEX "users_email_key" ON "users"("email");',
        replace:
          'CREATE UNIQUE INDEX "users_email_key" ON "users"("email");\nCREATE UNIQUE INDEX "users_id_key" ON "users"("id");',
      },
      {
        file: INIT,
        find: 'FOREIGN KEY ("organization_id", "user_id") REFERENCES "users"("organization_id", "id")',
        replace: 'FOREIGN KEY ("user_id") REFERENCES "users"("id")',
      },
    ],
    caughtBy: 'migrations',
  },
  {
    title: 'two active keys of a user can have the same name',
    edits: [
      {
        file: 'prisma/migrations/20261122204500_encrypt_secrets/migration.sql',
        find: 'CREATE UNIQUE INDEX "api_keys_live_name_key"',
        replace: 'CREATE INDEX "api_keys_live_name_key"',
      },
    ],
    caughtBy: 'test/store/constraints.test.ts',
  },
  {
    title: 'a check of the database is dropped',
    edits: [
      {
        file: INIT,
        find: "CHECK (\"permissions\" <@ ARRAY['parent_programs:read', 'parent_programs:write']::VARCHAR[])",
        replace: 'CHECK (TRUE)',
      },
    ],
    caughtBy: 'test/store/constraints.test.ts',
  },
  {
    title: 'a key can be both rotated and revoked',
    edits: [{ file: KEYS, find: 'CHECK ("rotated_at" IS NULL OR "revoked_at" IS NULL)', replace: 'CHECK (TRUE)' }],
    caughtBy: 'test/store/constraints.test.ts',
  },
  {
    title: 'names sort by the collation of a language',
    edits: [
      {
        file: INIT,
        find: '"name" VARCHAR(200) COLLATE "C" NOT NULL',
        replace: '"name" VARCHAR(200) COLLATE "en-x-icu" NOT NULL',
      },
    ],
    caughtBy: 'test/api/list-paging.test.ts',
  },
  {
    title: 'the search has no index',
    edits: [
      {
        file: INIT,
        find: 'CREATE INDEX "parent_programs_search_idx" ON "parent_programs" USING GIN ("organization_id", lower("name" COLLATE pg_catalog."default") gin_trgm_ops);',
        replace: '',
      },
      {
        file: 'prisma/migrations/20261123113000_estimate_searches/migration.sql',
        find: 'ALTER INDEX "parent_programs_search_idx" ALTER COLUMN 2 SET STATISTICS 1000;',
        replace: 'SELECT 1;',
      },
    ],
    caughtBy: 'test/store/plans.test.ts',
  },
  {
    title: 'a creation does not increase the version',
    edits: [
      {
        file: VERSION,
        find: 'AFTER INSERT ON "parent_programs"\n  REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE',
        replace:
          'AFTER INSERT ON "parent_programs"\n  REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT WHEN (false) EXECUTE',
      },
    ],
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'moving a row does not increase the version of its old organization',
    edits: [
      {
        file: BUMP_ONCE,
        find: 'SELECT "organization_id" FROM "before" UNION SELECT "organization_id" FROM "after"',
        replace: 'SELECT "organization_id" FROM "after"',
      },
    ],
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'a deletion does not increase the version',
    edits: [
      {
        file: VERSION,
        find: 'AFTER DELETE ON "parent_programs"\n  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE',
        replace:
          'AFTER DELETE ON "parent_programs"\n  REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT WHEN (false) EXECUTE',
      },
    ],
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'an update does not increase the version',
    edits: [
      {
        file: BUMP_ONCE,
        find: 'NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE',
        replace: 'NEW TABLE AS "after" FOR EACH STATEMENT WHEN (false) EXECUTE',
      },
    ],
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'TRUNCATE does not increase the versions',
    edits: [
      {
        file: VERSION,
        find: 'FOR EACH STATEMENT EXECUTE FUNCTION "bump_every_version"',
        replace: 'FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION "bump_every_version"',
      },
    ],
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'the version is a counter, which repeats after a failover',
    edits: [
      {
        file: NEVER_AGAIN,
        find: 'greatest(OLD."version" + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)',
        replace: 'OLD."version" + 1',
      },
    ],
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'the version does not increase while triggers are disabled',
    edits: [
      {
        file: NEVER_AGAIN,
        find: 'ALTER TABLE "parent_programs" ENABLE ALWAYS TRIGGER "parent_programs_version_update";',
        replace: '',
      },
    ],
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'renaming an organization does not increase the version',
    edits: [
      {
        file: VERSION,
        find: 'BEFORE UPDATE ON "organizations"',
        replace: 'BEFORE UPDATE OF "version" ON "organizations"',
      },
    ],
    caughtBy: 'test/store/version.test.ts',
  },
  {
    title: 'an idempotency key never expires',
    edits: [
      {
        file: 'src/store/idempotency-keys.ts',
        find: 'where k.created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS}::int)`;',
        replace: 'where k.created_at < now() - make_interval(years => ${IDEMPOTENCY_HOURS}::int)`;',
      },
    ],
    caughtBy: 'test/store/idempotency-keys.test.ts',
  },
  {
    title: 'an instant loses its last digit',
    edits: [
      {
        file: 'src/store/instant.ts',
        find: "text.indexOf('+')).padEnd(3, '0')}Z`",
        replace: "text.indexOf('+') - 1).padEnd(2, '0')}Z`",
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'one of two concurrent updates overwrites the other',
    edits: [
      {
        file: 'src/store/rows.ts',
        find: 'from writer\n      where refused is null\n        and organization_id = ${scope.organizationId}::uuid and id = ${row.id}::uuid and ${name}::text = ${text}',
        replace:
          'from writer\n      where refused is null\n        and organization_id = ${scope.organizationId}::uuid and id = ${row.id}::uuid and ${text}::text is not null',
      },
    ],
    caughtBy: 'test/api/conditional.test.ts',
  },
  {
    title: 'a transaction of a process that is gone keeps its locks until writes give up',
    edits: [
      { file: 'src/store/session-settings.ts', find: "session_timeout: '10s'", replace: "session_timeout: '30s'" },
    ],
    caughtBy: 'test/store/outage.test.ts',
  },
  {
    title: 'PostgreSQL keeps the connections of a process that is gone for two hours',
    edits: [
      {
        file: 'src/store/database.ts',
        find: '{ ...SESSION_SETTINGS, ...KEEP_ALIVE_SETTINGS }',
        replace: '{ ...SESSION_SETTINGS, ...{} }',
      },
    ],
    caughtBy: 'test/store/outage.test.ts',
  },
  {
    title: 'a transaction that PostgreSQL has ended is an unexpected error',
    edits: [{ file: 'src/store/database-errors.ts', find: '/^25(006|P03)$/', replace: '/^25006$/' }],
    caughtBy: 'test/store/outage.test.ts',
  },
  {
    title: 'a write is committed after its connection was lost',
    edits: [{ file: 'src/store/session-settings.ts', find: "interval: '500ms'", replace: "interval: '0'" }],
    caughtBy: 'test/api/outage.test.ts',
  },
];
