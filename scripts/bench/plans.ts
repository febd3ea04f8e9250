import { OrganizationScope } from '../../src/domain/organization-scope.ts';
import { openDatabase } from '../../src/store/database.ts';
import { type ListQuery, listParentPrograms } from '../../src/store/parent-program-list.ts';
import { KEYRING } from './encryption.ts';

export type List = { readonly organizationId: string; readonly query: ListQuery };

export type PlanSummary = { readonly indexes: readonly string[]; readonly hasSeqScan: boolean };

/** auto_explain sends the plan of the statement that the store executes, with its parameters, as a notice. */
const EXPLAIN_ALL = `
  load 'auto_explain';
  set auto_explain.log_min_duration = 0;
  set auto_explain.log_format = 'json';
  set client_min_messages = log`;

/** The indexes that PostgreSQL uses for a list. */
export async function explainList(url: string, { organizationId, query }: List): Promise<PlanSummary> {
  const db = openDatabase({ url, keyring: KEYRING, poolSize: 1, onIdleError: () => undefined });
  const plans: string[] = [];
  db.pool.on('connect', (client) => client.on('notice', ({ message }) => plans.push(message ?? '')));
  try {
    await db.pool.query(EXPLAIN_ALL);
    await listParentPrograms(db, OrganizationScope.grant(organizationId), query);
  } finally {
    await db.close();
  }
  // A list can be more than one statement.
  const text = plans.filter((plan) => plan.includes('parent_programs')).join('\n');
  if (text === '') throw new Error('PostgreSQL has not sent the plan of a list.');
  return {
    indexes: [...new Set([...text.matchAll(/"Index Name": "([^"]+)"/g)].map(([, name = '']) => name))],
    hasSeqScan: text.includes('"Node Type": "Seq Scan"'),
  };
}
