import type { Database } from '../sql/database.ts';
import { BATCH_ROWS } from '../sql/delete-in-batches.ts';

const LIST = {
  name: 'list_domains_of_cell',
  text: `
    select domain from sso_domains d
    where domain > $1 and verified_at is not null
      and exists (select from sso_connections c where c.organization_id = d.organization_id)
      and not exists (select from organization_moves m where m.organization_id = d.organization_id)
    order by domain limit ${BATCH_ROWS}`,
};

/**
 * The verified e-mail domains of organizations with single sign-on, except for those that are moving away. In batches, over all
 * organizations.
 */
export async function* listDomainsOfCell({ pool }: Database): AsyncGenerator<string[]> {
  for (let after = ''; ; ) {
    const { rows } = await pool.query<{ domain: string }>({ ...LIST, values: [after] });
    yield rows.map(({ domain }) => domain);
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_ROWS) return;
    after = last.domain;
  }
}
