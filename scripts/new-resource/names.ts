/** The spellings of a resource's name. */
export type Names = {
  /** The spelling in paths and for the table, such as "language_courses". */
  readonly plural: string;
  readonly singular: string;
  /** The spellings in prose, such as "language courses", "language course", "a language course". */
  readonly nouns: string;
  readonly noun: string;
  readonly aNoun: string;
  /** The spellings in names of schemas and operations, such as "LanguageCourses", "LanguageCourse". */
  readonly types: string;
  readonly type: string;
  /** The spellings in code, such as "languageCourses", "languageCourse". */
  readonly variables: string;
  readonly variable: string;
  /** The name of the files in `src/store/` and `src/api/handlers/`, without extension, such as "language-courses". */
  readonly file: string;
  readonly constant: string;
};

const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
/**
 * The maximum length of a name. PostgreSQL cuts off names after 63 bytes, and the name of an index contains a table and a column.
 */
const MAX_CHARACTERS = 40;

/** Returns what is wrong with the name of a resource or a field; `null` if the name is valid. */
export function problemOfName(name: string): string | null {
  if (!NAME.test(name)) return 'must consist of lower-case words of a-z and 0-9, joined by "_"';
  return name.length > MAX_CHARACTERS ? `must have at most ${MAX_CHARACTERS} characters` : null;
}

export function namesOf(plural: string, singular: string): Names {
  const noun = singular.replaceAll('_', ' ');
  return {
    plural,
    singular,
    nouns: plural.replaceAll('_', ' '),
    noun,
    aNoun: `${/^[aeio]|^u(?!ni|se|ti)/.test(noun) ? 'an' : 'a'} ${noun}`,
    types: pascal(plural),
    type: pascal(singular),
    variables: camel(plural),
    variable: camel(singular),
    file: plural.replaceAll('_', '-'),
    constant: plural.toUpperCase(),
  };
}

/** Returns the singular, such as "provider" for "providers"; `null` if the plural is not regular. */
export function singularOf(plural: string): string | null {
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`;
  if (/(ss|x|z|ch|sh)es$/.test(plural)) return plural.slice(0, -2);
  return /[^s]s$/.test(plural) ? plural.slice(0, -1) : null;
}

export function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function pascal(name: string): string {
  return camel(`_${name}`);
}

/** Returns a list in words, such as "name, code or website". */
export function inWords(words: readonly string[], conjunction: 'and' | 'or'): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * The reserved words of PostgreSQL. A column with such a name needs quotes in SQL. A test compares this list with PostgreSQL's
 * own list.
 */
const SQL = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate ' +
    'collation column concurrently constraint create cross current_catalog current_date current_role current_schema ' +
    'current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for ' +
    'foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral leading ' +
    'left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing ' +
    'primary references returning right select session_user similar some symmetric system_user table tablesample then to ' +
    'trailing true union unique user using variadic verbose when where window with'
  ).split(' '),
);

/** Returns the language in which the name is a reserved word, as a column or as a variable; `null` if it is not reserved. */
export function languageReserving(name: string): 'SQL' | 'JavaScript' | null {
  if (SQL.has(name)) return 'SQL';
  return isVariable(camel(name)) ? null : 'JavaScript';
}

function isVariable(name: string): boolean {
  try {
    new Function(`'use strict'; let ${name};`);
    return true;
  } catch {
    return false;
  }
}
