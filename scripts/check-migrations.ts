/** A CHECK of one column. */
export type ColumnCheck = {
  readonly table: string;
  readonly column: string;
  /** SQL, such as `char_length("name") >= 2`. `null` drops the check that exists. */
  readonly condition: string | null;
};

/** The name of the constraint, as PostgreSQL and `npm run new-resource` choose it. */
export const nameOfCheck = ({ table, column }: Pick<ColumnCheck, 'table' | 'column'>) => `${table}_${column}_check`;

/** A migration to write. `ending` is added to its name. */
export type CheckMigration = { readonly ending: string; readonly sql: string };

/**
 * The migrations that add, replace or drop a check, in their order. PostgreSQL reads all rows to validate a check, so this has a
 * migration of its own, in which reads and writes go on. A check that is replaced stays until the new one is valid.
 */
export function migrationsOfCheck(
  check: ColumnCheck,
  { exists, isTableNew }: { exists: boolean; isTableNew: boolean },
) {
  const { table, condition } = check;
  const name = nameOfCheck(check);
  const alter = (action: string) => `ALTER TABLE "${table}" ${action};\n`;
  if (condition === null) return [{ ending: '', sql: alter(`DROP CONSTRAINT "${name}"`) }];
  // The table is empty until this migration ends.
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
