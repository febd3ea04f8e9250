/** A statement that locks a table while it reads or writes all rows of the table. */
type LongLock = {
  /** The first words of the statement. */
  readonly statement: string;
  readonly remedy: string;
};

const REMEDIES = {
  index: 'Use CREATE INDEX CONCURRENTLY, as the only statement of a migration.',
  constraint: 'Add it with NOT VALID, and validate it in the next migration, which locks out nobody.',
  unique:
    'Build the index with CREATE UNIQUE INDEX CONCURRENTLY in a migration before, then add the constraint USING INDEX.',
  notNull:
    'Add a CHECK ("column" IS NOT NULL) constraint with NOT VALID instead, and validate it in the next migration.',
  type: 'Add another column, and fill it in chunks after the start (src/postgres/complete-migrations.ts).',
  default:
    'Add the column without a default, set the default in a second ALTER TABLE, and fill it in chunks after the start.',
  inline: 'Add the column alone, and the constraint as one of its own, with NOT VALID.',
  inlineUnique:
    'Add the column alone, then the index with CREATE UNIQUE INDEX CONCURRENTLY, then the constraint USING INDEX.',
  rows: 'Change the rows in chunks after the start (src/postgres/complete-migrations.ts).',
  validate: 'Validate constraints in a migration of their own: the other locks of this one are held meanwhile.',
  rewrite: 'This rewrites the table or the index. Use the form with CONCURRENTLY, or do without.',
} as const;

/** Functions that the default of a new column may call. PostgreSQL evaluates such a function once, not once for each row. */
const STABLE = /\b(now|statement_timestamp|transaction_timestamp|current_setting)\s*\(\s*[^()]*\)/gi;

/** Matches a cast to a type such as VARCHAR(43), which looks like a function call. */
const CAST = /::\s*"?\w+"?\s*\([\d\s,]*\)/g;

/**
 * Returns the statements of a migration that block requests with a lock for a time that grows with the table. Ignores tables that
 * the migration itself creates, because they are empty. `before` is the SQL of all earlier migrations.
 */
export function longLocksOf(sql: string, before = ''): LongLock[] {
  const statements = statementsOf(sql);
  const created = new Set(
    statements.flatMap((each) => /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?([^\s(]+)/i.exec(each)?.[1] ?? []),
  );
  const alters = statements.filter((each) => /^ALTER TABLE/i.test(each));
  return statements.flatMap((statement) => {
    const remedies = remediesFor(statement, { created, before });
    if (
      /^ALTER TABLE .*VALIDATE CONSTRAINT/i.test(statement) &&
      alters.some((each) => !/VALIDATE CONSTRAINT/i.test(each))
    )
      remedies.push('validate');
    return remedies.map((remedy) => ({ statement: statement.slice(0, 80), remedy: REMEDIES[remedy] }));
  });
}

type Known = { readonly created: ReadonlySet<string>; readonly before: string };

function remediesFor(statement: string, { created, before }: Known): (keyof typeof REMEDIES)[] {
  const [, table = ''] =
    /^(?:CREATE (?:UNIQUE )?INDEX .*? ON|ALTER TABLE(?: IF EXISTS)?(?: ONLY)?|UPDATE(?: ONLY)?|DELETE FROM(?: ONLY)?) ([^\s(]+)/i.exec(
      statement,
    ) ?? [];
  if (created.has(table)) return [];
  if (/^(REINDEX|CLUSTER|VACUUM FULL|REFRESH MATERIALIZED)\b(?!.*CONCURRENTLY)/i.test(statement)) return ['rewrite'];
  if (/^CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)/i.test(statement)) return ['index'];
  if (/^(UPDATE|DELETE FROM)\b/i.test(statement)) return ['rows'];
  if (!/^ALTER TABLE/i.test(statement)) return [];
  return actionsOf(statement).flatMap((action): (keyof typeof REMEDIES)[] => {
    if (/^ADD (CONSTRAINT \S+ )?(CHECK|FOREIGN KEY)\b(?!.*NOT VALID)/i.test(action)) return ['constraint'];
    if (/^ADD (CONSTRAINT \S+ )?(UNIQUE|PRIMARY KEY|EXCLUDE)\b(?!.*USING INDEX)/i.test(action)) return ['unique'];
    if (/^ALTER (COLUMN )?\S+ SET NOT NULL/i.test(action)) return ['notNull'];
    if (/^ALTER (COLUMN )?\S+ (SET DATA )?TYPE\b/i.test(action)) return widens(table, action, before) ? [] : ['type'];
    if (/^SET (TABLESPACE|LOGGED|UNLOGGED|ACCESS METHOD)\b/i.test(action)) return ['rewrite'];
    if (!/^ADD\b(?! (CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)\b)/i.test(action)) return [];
    if (/\b(UNIQUE|PRIMARY KEY)\b/i.test(action)) return ['inlineUnique'];
    if (/\b(REFERENCES|CHECK)\b/i.test(action)) return ['inline'];
    if (/\b(GENERATED|(SMALL|BIG)?SERIAL)\b/i.test(action)) return ['default'];
    const [, initial = ''] = /\bDEFAULT (.*)$/i.exec(action) ?? [];
    return /\w\s*\(/.test(initial.replace(CAST, '').replace(STABLE, '')) ? ['default'] : [];
  });
}

/** Returns whether the action only increases the maximum length of a text column, for which PostgreSQL reads no rows. */
function widens(table: string, action: string, before: string): boolean {
  const [, column = '', after = ''] =
    /^ALTER (?:COLUMN )?(\S+) (?:SET DATA )?TYPE VARCHAR\((\d+)\)$/i.exec(action) ?? [];
  const lengths = statementsOf(before)
    .filter((each) => each.startsWith(`CREATE TABLE ${table} `) || each.startsWith(`ALTER TABLE ${table} `))
    .flatMap((each) => [...each.matchAll(/("\w+") (?:SET DATA TYPE )?VARCHAR\((\d+)\)(?!\[)/g)])
    .flatMap(([, name, length]) => (name === column ? [Number(length)] : []));
  return lengths.length > 0 && Number(after) >= (lengths.at(-1) ?? 0);
}

/** Returns each statement on one line, without comments, the contents of strings and the bodies of functions. */
function statementsOf(sql: string): string[] {
  return sql
    .replace(/(\$\w*\$)[\s\S]*?\1|'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, (text) =>
      /^['$]/.test(text) ? "''" : ' ',
    )
    .split(';')
    .map((each) => each.replace(/\s+/g, ' ').trim())
    .filter((each) => each !== '');
}

/** Returns the actions of an ALTER TABLE. They are separated by the commas outside parentheses. */
function actionsOf(statement: string): string[] {
  const actions = statement.replace(/^ALTER TABLE (IF EXISTS )?(ONLY )?\S+ /i, '');
  let depth = 0;
  let parts = [''];
  for (const character of actions) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts = [...parts.slice(0, -1), `${parts.at(-1)}${character}`];
  }
  return parts.map((each) => each.trim());
}
