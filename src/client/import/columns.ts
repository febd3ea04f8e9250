import type { ChangeOf, Schemas } from '../charter-client.ts';
import { ImportError } from './import-error.ts';
import { isSimilar } from './similar-names.ts';

export const PATH = '/api/parent_programs';

export type Upsert = Extract<ChangeOf<typeof PATH>, { action: 'upsert' }>;

/** The type makes the compiler reject this table unless it has exactly the contract's fields. */
const FIELDS: Readonly<Record<Exclude<keyof Schemas['ParentProgramUpsert'], 'metadata'> | 'external_id', true>> = {
  external_id: true,
  name: true,
  description: true,
};
const METADATA = 'metadata.';

export type Columns = {
  /** The fields, by the place of their column. */
  readonly fields: ReadonlyMap<number, string>;
  /** A list of the other columns to print; empty if there are none. */
  readonly ignored: string;
  /** The fields that no column has. */
  readonly missing: readonly string[];
};

/** Throws an ImportError if a column of the map, or one for a field that every row needs, does not exist. */
export function columnsOf(header: readonly string[], map: ReadonlyMap<string, string>): Columns {
  const names = header.map((name) => name.trim());
  const listed = `The columns of the file: ${listOf(names)}.`;
  if (names.some((name) => name.includes('\0')))
    throw new ImportError('The first row has NUL characters. Is it UTF-16? Use --encoding utf-16le or utf-16be.');
  const unknown = [...map.keys()].find((column) => !names.includes(column));
  if (unknown !== undefined)
    throw new ImportError(
      `--map names the column "${unknown}", which does not exist. ${delimiterAdvice(names) ?? ''}${listed}`,
    );
  const mapped = new Set(map.values());
  const fields = new Map<number, string>();
  for (const [at, name] of names.entries()) {
    const field = map.get(name) ?? (mapped.has(name) ? undefined : name);
    if (field === undefined || (!isField(field) && !map.has(name))) continue;
    if (!isField(field)) throw new ImportError(`--map names the field "${field}". ${ALLOWED}`);
    if ([...fields.values()].includes(field)) throw new ImportError(`Several columns are for the field "${field}".`);
    fields.set(at, field);
  }
  const found = [...fields.values()];
  const ignored = names.filter((_, at) => !fields.has(at));
  const missing = Object.keys(FIELDS).filter((field) => !found.includes(field));
  for (const field of ['external_id', 'name']) {
    if (found.includes(field)) continue;
    const similar = ignored.find((name) => isSimilar(name, field));
    const remedy =
      similar === undefined
        ? `Name one with --map "COLUMN=${field}", or the right --delimiter. `
        : `Did you mean --map "${similar}=${field}"? `;
    throw new ImportError(`No column is for the field "${field}". ${delimiterAdvice(names) ?? remedy}${listed}`);
  }
  return {
    fields,
    ignored: listOf(ignored, (name) => {
      const meant = metadataFieldOf(name) ?? missing.find((field) => isSimilar(name, field));
      return meant === undefined || found.includes(meant) ? name : `${name} (did you mean ${meant}?)`;
    }),
    missing: found.some((field) => field.startsWith(METADATA)) ? missing : [...missing, 'metadata'],
  };
}

function delimiterAdvice(names: readonly string[]): string | undefined {
  const [found] = names.length === 1 ? (/[,;\t|]/.exec(names[0] ?? '') ?? []) : [];
  return found && `Did you mean --delimiter ${found === '\t' ? 'tab' : `"${found}"`}? `;
}

/** Spreadsheets write cells without a name behind the last column. */
function listOf(names: readonly string[], describe = (name: string) => name): string {
  const named = names.filter((name) => name !== '');
  const unnamed = names.length - named.length;
  return [...named.map(describe), ...(unnamed === 0 ? [] : [`${unnamed} without a name`])].join(', ');
}

/** For "Metadata region", too. */
function metadataFieldOf(name: string): string | undefined {
  const [, key] = /^metadata[\W_]+(.+)$/is.exec(name) ?? [];
  return key && `${METADATA}${key}`;
}

const ALLOWED = `A field is ${Object.keys(FIELDS).join(', ')}, or ${METADATA}KEY with a key of your own.`;

function isField(name: string): boolean {
  return Object.hasOwn(FIELDS, name) || (name.startsWith(METADATA) && name.length > METADATA.length);
}

/** The change that the row stands for. An empty cell is a field without a value. */
export function upsertOf(cells: readonly string[], { fields }: Pick<Columns, 'fields'>): Upsert {
  const entries = [...fields].map(([at, field]): [string, string] => [field, cells[at] ?? '']);
  const { external_id: externalId = '', name = '', description = '' } = Object.fromEntries(entries);
  const metadata = Object.fromEntries(
    entries
      .filter(([field, cell]) => field.startsWith(METADATA) && cell !== '')
      .map(([field, cell]) => [field.slice(METADATA.length), cell]),
  );
  return {
    action: 'upsert',
    external_id: externalId,
    body: { name, ...(description !== '' && { description }), metadata },
  };
}
