// Compares prisma/schema.prisma with the result of prisma/migrations on an empty database, in a temporary PostgreSQL.
// Downloads nothing and touches no other database.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '../src/postgres/migrate.ts';
import { MIGRATIONS_DIR, readMigrations } from '../src/postgres/migrations.ts';
import { withSchemaEngine } from '../src/postgres/schema-engine.ts';
import { messageOf, runMain } from './command-line.ts';
import { longLocksOf } from './migration-locks.ts';
import { nextMigrationTime } from './next-migration-time.ts';
import { startTemporaryPostgres } from './temporary-postgres.ts';

const HELP = `npm run migration -- --name add_something   writes the next migration for the changes of the schema
npm run migration -- --check                fails if prisma/schema.prisma and prisma/migrations differ, or if a migration
                                            would lock a large table for long

Edit prisma/schema.prisma first. Review the written file, and add by hand what Prisma cannot express (collations, checks,
partial and trigram indexes). Never edit a migration that a database may have applied: write a new one.
`;
const SCHEMA_FILE = fileURLToPath(new URL('../prisma/schema.prisma', import.meta.url));
/** The migrations up to this one were written before the check of their locks, and are never edited. */
const LAST_UNCHECKED = '20261123042000_events';
const NAME = /^[a-z][a-z0-9_]{0,59}$/;

await runMain({ name: { type: 'string' }, check: { type: 'boolean', default: false } }, HELP, main);

async function main({ check, name }: { check: boolean; name?: string | undefined }): Promise<number> {
  requireOneOption(check, name);
  const locks = await describeLongLocks();
  if (check && locks !== '') {
    console.error(locks);
    return 1;
  }
  const sql = await findChange().catch((error: unknown) => {
    // The engine's errors about the schema end with a stack trace of its own.
    throw new Error(messageOf(error).replace(/\n +0: [\s\S]*$/, ''));
  });
  if (sql === null) {
    console.log('The schema and the migrations agree. There is nothing to write.');
    return 0;
  }
  if (name === undefined) {
    console.error(
      `prisma/schema.prisma and prisma/migrations disagree. This SQL is missing:\n\n${sql}\nWrite the migration: npm run migration -- --name add_something`,
    );
    return 1;
  }
  const file = relative(process.cwd(), await write(name, sql));
  console.log(`Written: ${file}\nReview it before you commit it.\n${await describeLongLocks()}`);
  return 0;
}

function requireOneOption(check: boolean, name: string | undefined): void {
  if (check === (name !== undefined)) throw new Error(`Specify either --name or --check.\n\n${HELP}`);
  if (name !== undefined && !NAME.test(name)) {
    const rule = 'Use at most 60 characters of a-z, 0-9 and _, and begin with a letter.';
    throw new Error(`"${name}" is not a valid name. ${rule}\n\n${HELP}`);
  }
}

/** Statements of the migrations that lock a table for long if it is large; empty if there are none. */
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

/** The SQL that the migrations lack; null if they agree with the schema. */
async function findChange(): Promise<string | null> {
  // Takes a second or two. An interruption would leave PostgreSQL running.
  process.on('SIGINT', () => undefined);
  const postgres = await startTemporaryPostgres();
  try {
    await migrate(postgres.url);
    return await diff(postgres.url);
  } finally {
    await postgres.end();
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
  // With `exitCode`, 2 means that there is a difference.
  return result.exitCode === 2 ? (result.stdout ?? '') : null;
}

async function write(name: string, sql: string): Promise<string> {
  const dir = join(MIGRATIONS_DIR, `${await nextMigrationTime()}_${name}`);
  await mkdir(dir);
  const file = join(dir, 'migration.sql');
  await writeFile(file, sql.endsWith('\n') ? sql : `${sql}\n`);
  return file;
}
