/** A CHECK constraint of one column. */
export type ColumnCheck = {
  readonly table: string;
  readonly column: string;
  /** The condition as SQL, such as `char_length("name") >= 2`. `null` drops the existing constraint. */
  readonly condition: string | null;
};

/** Returns the name of the constraint, as PostgreSQL and `npm run new-resource` would choose it. */
export const nameOfCheck = ({ table, column }: Pick<ColumnCheck, 'table' | 'column'>) => `${table}_${column}_check`;

/** A migration to write. `ending` is appended to the migration's name. */
export type CheckMigration = { readonly ending: string; readonly sql: string };

/**
 * Returns the migrations that add, replace or drop a CHECK constraint, in order. PostgreSQL reads all rows to validate a
 * constraint, so a separate migration validates the constraint, with a lock that allows reads and writes. A constraint that is
 * replaced stays until the new constraint is valid.
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
  const migrations: CheckMigration[] = [
    { ending: '', sql: alter(`ADD CONSTRAINT "${added}" CHECK (${condition}) NOT VALID`) },
    { ending: '_validated', sql: alter(`VALIDATE CONSTRAINT "${added}"`) },
  ];
  const rename = alter(`RENAME CONSTRAINT "${added}" TO "${name}"`);
  if (exists) migrations.push({ ending: '_replaced', sql: `${alter(`DROP CONSTRAINT "${name}"`)}${rename}` });
  return migrations;
}
