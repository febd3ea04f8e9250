import { longLocksOf } from '../../scripts/migration-locks.ts';
import { migrationsOfChange, migrationsOfCheck } from '../../scripts/migrations-of-change.ts';

test.each([
  'CREATE INDEX "i" ON "parent_programs"("name");',
  'CREATE UNIQUE INDEX "i" ON "parent_programs"("name");',
  'ALTER TABLE "parent_programs" ADD CONSTRAINT "c" CHECK (length("name") > 0);',
  'ALTER TABLE "parent_programs" ADD CONSTRAINT "c" FOREIGN KEY ("a") REFERENCES "b"("id");',
  'ALTER TABLE "parent_programs" ADD CONSTRAINT "c" UNIQUE ("name");',
  'ALTER TABLE "parent_programs" ALTER COLUMN "name" SET NOT NULL;',
  'ALTER TABLE "parent_programs" ALTER COLUMN "name" SET DATA TYPE TEXT;',
  'ALTER TABLE "parent_programs"\n  ADD COLUMN "a" INTEGER,\n  ADD COLUMN "id" UUID NOT NULL DEFAULT gen_random_uuid();',
  'ALTER TABLE "parent_programs" ADD COLUMN "a" UUID REFERENCES "b"("id");',
  'ALTER TABLE "parent_programs" ADD COLUMN "a" BIGSERIAL;',
  'ALTER TABLE "parent_programs" ADD COLUMN "a" TEXT DEFAULT gen_random_uuid()::varchar(36);',
  `UPDATE "parent_programs" SET "name" = 'x;y';`,
  'DELETE FROM "parent_programs";',
  'REINDEX TABLE "parent_programs";',
])('a migration is refused whose lock grows with the table: %s', (sql) => {
  expect(longLocksOf(`-- Why.\n${sql}`)).toEqual([{ statement: expect.any(String), remedy: expect.any(String) }]);
});

test.each(['TEXT UNIQUE', 'UUID PRIMARY KEY'])(
  'the remedy for a new column %s is an index, not NOT VALID',
  (definition) => {
    const [lock] = longLocksOf(`ALTER TABLE "parent_programs" ADD COLUMN "a" ${definition};`);
    // PostgreSQL supports NOT VALID only for CHECK and FOREIGN KEY.
    expect(lock?.remedy).toMatch(/CREATE UNIQUE INDEX CONCURRENTLY.*USING INDEX/);
    expect(lock?.remedy).not.toContain('NOT VALID');
  },
);

test('constraints are validated in a migration of their own', () => {
  const add = 'ALTER TABLE "a" ADD CONSTRAINT "c" CHECK ("b" > 0) NOT VALID;';
  const validate = 'ALTER TABLE "a" VALIDATE CONSTRAINT "c";';
  expect([longLocksOf(add), longLocksOf(validate)]).toEqual([[], []]);
  expect(longLocksOf(`${add}\n${validate}`)).toHaveLength(1);
});

test.each([
  { exists: false, isTableNew: true, count: 1 },
  { exists: false, isTableNew: false, count: 2 },
  { exists: true, isTableNew: false, count: 3 },
])('the written migrations of a check lock no large table for long: %j', ({ count, ...state }) => {
  const check = { table: 'branches', column: 'code', condition: `"code" <> ''` };
  const written = migrationsOfCheck(check, state).map(({ sql }) => sql);
  expect(written).toHaveLength(count);
  if (!state.isTableNew) expect(written.flatMap((sql) => longLocksOf(sql))).toEqual([]);
  expect(migrationsOfCheck({ ...check, condition: null }, state)).toHaveLength(1);
});

test('the written migrations of a field with a filter build its index alone, and record its events as before', () => {
  const column = 'ALTER TABLE "programs" ADD COLUMN     "country" VARCHAR(2);';
  const table =
    '-- CreateTable\nCREATE TABLE "new" ("id" UUID);\n\n-- CreateIndex\nCREATE INDEX "new_idx" ON "new"("id");';
  const indexes = ['INDEX "a_idx" ON "programs"("country");', 'UNIQUE INDEX "b_key" ON "programs"("country", "id");'];
  const call = `SELECT "record_events_of"('programs', 'program', $$CASE WHEN true THEN 'archived' END$$);`;
  const earlier = `SELECT "record_events_of"('programs', 'program');\n${call}\nSELECT "record_events_of"('others', 'other');\n`;
  const sql = [`-- AlterTable\n${column}`, table, ...indexes.map((each) => `-- CreateIndex\nCREATE ${each}`)].join(
    '\n\n',
  );
  const written = migrationsOfChange(`${sql}\n`, earlier);
  expect(written).toEqual([
    { ending: '', sql: expect.stringContaining(call) },
    { ending: '_index', sql: expect.stringMatching(/^-- CreateIndex\nCREATE INDEX CONCURRENTLY "a_idx" .*;\n$/) },
    { ending: '_index_2', sql: expect.stringMatching(/\nCREATE UNIQUE INDEX CONCURRENTLY "b_key" .*;\n$/) },
  ]);
  expect(written[0]?.sql).toContain(table);
  expect(written.flatMap((each) => longLocksOf(each.sql))).toEqual([]);
});

test.each([
  'CREATE INDEX CONCURRENTLY "i" ON "parent_programs"("name");',
  'ALTER TABLE "parent_programs" ADD COLUMN "a" VARCHAR(60), ADD COLUMN "b" NUMERIC(5, 2) DEFAULT 0;',
  'ALTER TABLE "parent_programs" ADD COLUMN "a" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp();',
  'ALTER TABLE "parent_programs" ADD COLUMN "a" VARCHAR(43)[] NOT NULL DEFAULT ARRAY[]::VARCHAR(43)[];',
  'ALTER TABLE "parent_programs" ADD CONSTRAINT "c" UNIQUE USING INDEX "i";',
  'ALTER TABLE "parent_programs" DROP COLUMN "a";',
  'CREATE TABLE "t" ("id" UUID PRIMARY KEY);\nCREATE INDEX "i" ON "t"("id");\nALTER TABLE "t" ADD CONSTRAINT "c" CHECK (true);',
  'CREATE UNLOGGED TABLE "t" ("id" UUID PRIMARY KEY);\nCREATE INDEX "i" ON "t"("id");',
  `CREATE FUNCTION "f"() RETURNS trigger AS $$ BEGIN UPDATE "t" SET "a" = 1; RETURN NULL; END $$ LANGUAGE plpgsql;`,
  `COMMENT ON TABLE "t" IS 'x; DELETE FROM "t"';`,
])('a migration is accepted whose lock is short on any table: %s', (sql) => {
  expect(longLocksOf(sql)).toEqual([]);
});

test('a longer VARCHAR locks for a moment only, if the column is known to be a shorter one', () => {
  const before = 'CREATE TABLE "a" ("b" VARCHAR(20) NOT NULL);\nCREATE TABLE "other" ("b" VARCHAR(10) NOT NULL);';
  const change = (type: string, table = 'a') => `ALTER TABLE "${table}" ALTER COLUMN "b" SET DATA TYPE ${type};`;
  expect(longLocksOf(change('VARCHAR(30)'), before)).toEqual([]);
  expect(longLocksOf(change('VARCHAR(30)'))).toHaveLength(1);
  expect(longLocksOf(change('VARCHAR(15)'), before)).toHaveLength(1);
  expect(longLocksOf(change('VARCHAR(30)', 'c'), before)).toHaveLength(1);
  expect(longLocksOf(change('VARCHAR(25)'), `${before}\n${change('VARCHAR(30)')}`)).toHaveLength(1);
});
