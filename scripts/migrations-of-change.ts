/** A CHECK constraint of one column. */
export type ColumnCheck = {
  readonly table: string;
  readonly column: string;
  /** The condition as SQL, such as `char_length("name") >= 2`; `null` to drop the existing constraint. */
  readonly condition: string | null;
};

/** Returns the name of the constraint, as PostgreSQL and `npm run new-resource` choose it. */
export const nameOfCheck = ({ table, column }: Pick<ColumnCheck, 'table' | 'column'>) => `${table}_${column}_check`;

/** A migration to write. `ending` is appended to the migration's name. */
export type NewMigration = { readonly ending: string; readonly sql: string };

const INDEX = /-- CreateIndex\nCREATE ((?:UNIQUE )?INDEX) (".*" ON ("\w+").*;\n)\n?/g;

/**
 * Returns the migrations for a change of the schema. `sql` is what Prisma writes for the change; `earlier` is the SQL of all
 * earlier migrations. Each index on an existing table is built concurrently, in a migration of its own. If columns are added to or
 * dropped from a table whose changes are events, the migration repeats the table's last "record_events_of" call.
 */
export function migrationsOfChange(sql: string, earlier: string): NewMigration[] {
  const created = [...sql.matchAll(/^CREATE TABLE ("\w+")/gm)].map(([, table]) => table);
  const indexes: NewMigration[] = [];
  const rest = sql.replace(INDEX, (text, kind, index, table) => {
    if (created.includes(table)) return text;
    const ending = indexes.length === 0 ? '_index' : `_index_${indexes.length + 1}`;
    indexes.push({ ending, sql: `-- CreateIndex\nCREATE ${kind} CONCURRENTLY ${index}` });
    return '';
  });
  const changed = rest.matchAll(/^ALTER TABLE "(\w+)"[^;]*?\b(?:ADD|DROP) COLUMN/gm);
  const calls = [...new Set([...changed].map(([, table = '']) => table))].map((table) => callOf(table, earlier));
  const change = [rest.trimEnd(), ...calls].filter((text) => text !== '').join('\n\n');
  return [...(change === '' ? [] : [{ ending: '', sql: `${change}\n` }]), ...indexes];
}

/** Returns the last "record_events_of" call for the table, with a comment; empty if the table has no events. */
function callOf(table: string, earlier: string): string {
  const calls = earlier.match(new RegExp(`^SELECT "record_events_of"\\('${table}',[^;]*;`, 'gm')) ?? [];
  return calls.length === 0 ? '' : `-- The events have the columns of the table.\n${calls.at(-1)}`;
}

/**
 * Returns the migrations that add, replace or drop a CHECK constraint, in order. The constraint is validated in a separate
 * migration, because PostgreSQL then reads all rows. The lock of the validation allows reads and writes; the lock of the addition
 * does not. If a constraint is replaced, the old one stays until the new one is valid.
 */
export function migrationsOfCheck(
  check: ColumnCheck,
  { exists, isTableNew }: { exists: boolean; isTableNew: boolean },
) {
  const { table, condition } = check;
  const name = nameOfCheck(check);
  const alter = (action: string) => `ALTER TABLE "${table}" ${action};\n`;
  if (condition === null) return [{ ending: '', sql: alter(`DROP CONSTRAINT "${name}"`) }];
  // The migration creates the table, so there are no rows to validate.
  if (isTableNew) return [{ ending: '', sql: alter(`ADD CONSTRAINT "${name}" CHECK (${condition})`) }];
  const added = exists ? `${name}_next` : name;
  const migrations: NewMigration[] = [
    { ending: '', sql: alter(`ADD CONSTRAINT "${added}" CHECK (${condition}) NOT VALID`) },
    { ending: '_validated', sql: alter(`VALIDATE CONSTRAINT "${added}"`) },
  ];
  const rename = alter(`RENAME CONSTRAINT "${added}" TO "${name}"`);
  if (exists) migrations.push({ ending: '_replaced', sql: `${alter(`DROP CONSTRAINT "${name}"`)}${rename}` });
  return migrations;
}
