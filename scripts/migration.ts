// Compares prisma/schema.prisma with the tables that prisma/migrations create in an empty database of a temporary PostgreSQL.
// Downloads nothing and changes no other database.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from '../src/postgres/migrate.ts';
import { MIGRATIONS_DIR, readMigrations } from '../src/postgres/migrations.ts';
import { withSchemaEngine } from '../src/postgres/schema-engine.ts';
import { messageOf, runMain } from './command-line.ts';
import { longLocksOf } from './migration-locks.ts';
import {
  type ColumnCheck,
  migrationsOfChange,
  migrationsOfCheck,
  type NewMigration,
  nameOfCheck,
} from './migrations-of-change.ts';
import { nextMigrationTime } from './next-migration-time.ts';
import { startTemporaryPostgres } from './temporary-postgres.ts';

const HELP = `npm run migration -- --name add_something   writes the next migrations for the changes of the schema: one for each new index of
                                            a table that exists, and one for everything else
npm run migration -- --check                fails if prisma/schema.prisma and prisma/migrations differ, or if a migration
                                            would lock a large table for long

  --check-of TABLE.COLUMN   with --name: also writes the CHECK of a column, in as many migrations as let requests go on: one to
                            add it, one to validate it, and one that drops the CHECK that it replaces
  --condition SQL           its condition, such as 'char_length("name") >= 2'; without it, the CHECK is dropped

Edit prisma/schema.prisma first. Review the written files, and add by hand what Prisma cannot express (collations, partial
and trigram indexes). Never edit a migration that a database may have applied: write a new one.
`;
const SCHEMA_FILE = fileURLToPath(new URL('../prisma/schema.prisma', import.meta.url));
/**
 * The last migration that is not checked for long locks. The check did not exist yet when this migration and the earlier ones
 * were written, and migrations are never edited.
 */
const LAST_UNCHECKED = '20261123042000_events';
const NAME = /^[a-z][a-z0-9_]{0,59}$/;

const OPTIONS = {
  name: { type: 'string' },
  check: { type: 'boolean', default: false },
  'check-of': { type: 'string' },
  condition: { type: 'string' },
} as const;
type Options = {
  readonly check: boolean;
  readonly name?: string | undefined;
  readonly 'check-of'?: string | undefined;
  readonly condition?: string | undefined;
};

await runMain(OPTIONS, HELP, main);

async function main({ check, name, 'check-of': place, condition }: Options): Promise<number> {
  requireOneOption(check, name);
  const columnCheck = parseCheck(name, place, condition);
  const locks = await describeLongLocks();
  if (check && locks !== '') {
    console.error(locks);
    return 1;
  }
  const migrations = await findChanges(columnCheck).catch((error: unknown) => {
    // Removes the stack trace at the end of the engine's errors about the schema.
    throw new Error(messageOf(error).replace(/\n +0: [\s\S]*$/, ''));
  });
  const [first] = migrations;
  if (first === undefined) {
    console.log('The schema and the migrations agree. There is nothing to write.');
    return 0;
  }
  if (name === undefined) {
    console.error(
      `prisma/schema.prisma and prisma/migrations disagree. This SQL is missing:\n\n${first.sql}\nWrite the migration: npm run migration -- --name add_something`,
    );
    return 1;
  }
  for (const { ending, sql } of migrations)
    console.log(`Written: ${relative(process.cwd(), await write(`${name}${ending}`, sql))}`);
  const them = migrations.length === 1 ? 'it' : 'them';
  console.log(`Review ${them} before you commit ${them}.\n${await describeLongLocks()}`);
  return 0;
}

/** Returns the CHECK constraint to write, or `null` if the options do not describe one. */
function parseCheck(name: string | undefined, place = '', condition: string | null = null): ColumnCheck | null {
  if (place === '' && condition === null) return null;
  const [, table, column] = /^([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)$/.exec(place) ?? [];
  if (name === undefined || table === undefined || column === undefined)
    throw new Error(`Specify the column together with --name, such as --check-of parent_programs.name.\n\n${HELP}`);
  return { table, column, condition };
}

function requireOneOption(check: boolean, name: string | undefined): void {
  if (check === (name !== undefined)) throw new Error(`Specify either --name or --check.\n\n${HELP}`);
  if (name !== undefined && !NAME.test(name)) {
    const rule = 'Use at most 60 characters of a-z, 0-9 and _, and begin with a letter.';
    throw new Error(`"${name}" is not a valid name. ${rule}\n\n${HELP}`);
  }
}

/** Returns a description of the statements in migrations that would lock a large table for long; empty if there are none. */
async function describeLongLocks(): Promise<string> {
  const migrations = await readMigrations();
  const before = (name: string) => migrations.filter((each) => each.name < name).map(({ sql }) => sql);
  const checked = migrations.filter(({ name }) => name > LAST_UNCHECKED);
  const lines = checked.flatMap(({ name, sql }) =>
    longLocksOf(sql, before(name).join('\n')).map(({ statement, remedy }) => `${name}: ${statement}\n  ${remedy}`),
  );
  if (lines.length === 0) return '';
  return `Requests would wait while these statements lock a large table:\n\n${lines.join('\n')}`;
}

/**
 * Returns the missing migrations: those that make the tables match the schema, and those of the CHECK constraint, if there is
 * one.
 */
async function findChanges(check: ColumnCheck | null): Promise<readonly NewMigration[]> {
  // Ignores SIGINT for the one or two seconds of this work, because an interruption would leave PostgreSQL running.
  process.on('SIGINT', () => undefined);
  const postgres = await startTemporaryPostgres();
  try {
    await migrate(postgres.url);
    const earlier = (await readMigrations()).map(({ sql }) => sql).join('\n');
    const changes = migrationsOfChange((await diff(postgres.url)) ?? '', earlier);
    if (check === null) return changes;
    const change = changes.find(({ ending }) => ending === '')?.sql ?? '';
    const indexes = changes.filter(({ ending }) => ending !== '');
    return [...(await withCheck(postgres.url, change, check)), ...indexes];
  } finally {
    await postgres.end();
  }
}

/**
 * Returns the migration for the change of the schema, and the migrations for the CHECK constraint. Executes all of them, to find
 * mistakes in the condition.
 */
async function withCheck(url: string, change: string, check: ColumnCheck): Promise<readonly NewMigration[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    if (change !== '') await client.query(change);
    const name = nameOfCheck(check);
    const { rowCount } = await client.query(`select from pg_constraint where contype = 'c' and conname = $1`, [name]);
    const isTableNew = change.includes(`CREATE TABLE "${check.table}"`);
    const exists = rowCount !== 0;
    if (check.condition === null && !exists)
      throw new Error(`There is no constraint "${name}" to drop. Add --condition SQL.`);
    const [first, ...later] = migrationsOfCheck(check, { exists, isTableNew });
    const migrations = [{ ending: '', sql: `${change === '' ? '' : `${change}\n`}${first?.sql ?? ''}` }, ...later];
    for (const sql of [first?.sql ?? '', ...later.map((each) => each.sql)])
      await client.query(sql).catch((error: unknown) => {
        throw new Error(
          `PostgreSQL refuses the check of ${check.table}.${check.column}: ${messageOf(error)}. Correct --condition.`,
        );
      });
    return migrations;
  } finally {
    await client.end();
  }
}

async function diff(url: string): Promise<string | null> {
  const datamodel = await readFile(SCHEMA_FILE, 'utf8');
  const files = [{ path: SCHEMA_FILE, content: datamodel }];
  const result = await withSchemaEngine({ url, datamodel }, (engine) =>
    engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: join(SCHEMA_FILE, '..') },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    }),
  );
  // With the option `exitCode`, the exit code 2 means that there is a difference.
  return result.exitCode === 2 ? (result.stdout ?? '') : null;
}

async function write(name: string, sql: string): Promise<string> {
  const dir = join(MIGRATIONS_DIR, `${await nextMigrationTime()}_${name}`);
  await mkdir(dir);
  const file = join(dir, 'migration.sql');
  await writeFile(file, sql);
  return file;
}
