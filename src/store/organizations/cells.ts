import { NIL } from 'uuid';
import { CHUNK_ROWS } from '../sql/chunks.ts';
import type { Database } from '../sql/database.ts';

// Data about all organizations of an installation that is a cell.

const LIST_DOMAINS = {
  name: 'list_domains_of_cell',
  text: `
    select domain from sso_domains d
    where domain > $1 and verified_at is not null
      and exists (select from sso_connections c where c.organization_id = d.organization_id)
      and not exists (select from organization_moves m where m.organization_id = d.organization_id)
    order by domain limit ${CHUNK_ROWS}`,
};

/**
 * Returns the verified e-mail domains of all organizations with single sign-on, in chunks. Organizations that are moving away are
 * omitted.
 */
export async function* listDomainsOfCell({ pool }: Database): AsyncGenerator<string[]> {
  for (let after = ''; ; ) {
    const { rows } = await pool.query<{ domain: string }>({ ...LIST_DOMAINS, values: [after] });
    yield rows.map(({ domain }) => domain);
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK_ROWS) return;
    after = last.domain;
  }
}

const LIST_KEYS = {
  name: 'list_keys_of_other_cells',
  text: `
    select organization_id as "organizationId", id, encode(key_hash, 'hex') as hash, key_prefix !~ $3 as "isOfAnother"
    from api_keys k
    where (organization_id, id) > ($1::uuid, $2::uuid)
      and not exists (select from organization_moves m where m.organization_id = k.organization_id)
    order by organization_id, id limit ${CHUNK_ROWS}`,
};

type KeyOfCell = {
  readonly organizationId: string;
  readonly id: string;
  readonly hash: string;
  readonly isOfAnother: boolean;
};

/**
 * Returns the SHA-256, in hexadecimal, of each key whose text does not name this cell, in chunks. Such a key was issued in
 * another cell, or before there were cells. Keys of organizations that are moving away are omitted.
 */
export async function* listKeysOfOtherCells({ pool }: Database, cell: string): AsyncGenerator<string[]> {
  for (let [organizationId, id]: [string, string] = [NIL, NIL]; ; ) {
    const values = [organizationId, id, `^charter_(live|test)_${cell}_`];
    const { rows } = await pool.query<KeyOfCell>({ ...LIST_KEYS, values });
    yield rows.filter(({ isOfAnother }) => isOfAnother).map(({ hash }) => hash);
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK_ROWS) return;
    [organizationId, id] = [last.organizationId, last.id];
  }
}

const TABLES = ['organizations', 'parent_programs', 'events'] as const;
/**
 * The maximum number of rows of a table that are counted. For a larger table, PostgreSQL's estimate from the last ANALYZE is
 * used, which costs nothing.
 */
const MAX_COUNTED = 10_000;

export type CellRows = Readonly<Record<(typeof TABLES)[number], number>>;

const COUNT = {
  name: 'count_rows_of_cell',
  text: `select ${TABLES.map(
    (table) => `
      (select case when rows > ${MAX_COUNTED} then greatest(rows, reltuples) else rows end
       from (select count(*) as rows from (select from ${table} limit ${MAX_COUNTED + 1}) first) counted,
            (select reltuples from pg_class where oid = '${table}'::regclass) estimated) as ${table}`,
  ).join(',')}`,
};

/** Counts the rows of all organizations by table: exactly up to 10,000 rows of a table, and estimated beyond. */
export async function countRowsOfCell({ pool }: Database): Promise<CellRows> {
  const { rows } = await pool.query<CellRows>(COUNT);
  const [counted] = rows;
  if (counted === undefined) throw new Error('The rows were not counted.');
  return counted;
}
