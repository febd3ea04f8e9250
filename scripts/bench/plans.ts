import { OrganizationScope } from '../../src/domain/organization-scope.ts';
import { openDatabase } from '../../src/store/database.ts';
import { type ListQuery, listParentPrograms } from '../../src/store/parent-program-list.ts';

export type List = { readonly organizationId: string; readonly query: ListQuery };

export type PlanSummary = { readonly indexes: readonly string[]; readonly hasSeqScan: boolean };

/** auto_explain hands us, as a notice, the plan of the very statement that the store runs, with its very parameters. */
const EXPLAIN_ALL = `
  load 'auto_explain';
  set auto_explain.log_min_duration = 0;
  set auto_explain.log_format = 'json';
  set client_min_messages = log`;

/** How PostgreSQL finds a list's rows. */
export async function explainList(url: string, { organizationId, query }: List): Promise<PlanSummary> {
  const db = openDatabase({ url, poolSize: 1, onIdleError: () => undefined });
  const plans: string[] = [];
  db.pool.on('connect', (client) => client.on('notice', ({ message }) => plans.push(message ?? '')));
  try {
    await db.pool.query(EXPLAIN_ALL);
    await listParentPrograms(db, OrganizationScope.grant(organizationId), query);
  } finally {
    await db.close();
  }
  // A list may be more than one statement; each counts.
  const told = plans.filter((text) => text.includes('parent_programs')).join('\n');
  if (told === '') throw new Error('PostgreSQL has not told the plan of a list.');
  return {
    indexes: [...new Set([...told.matchAll(/"Index Name": "([^"]+)"/g)].map(([, name = '']) => name))],
    hasSeqScan: told.includes('"Node Type": "Seq Scan"'),
  };
}
