import type { OrganizationScope } from '../../domain/organization-scope.ts';
import * as store from '../../store/resources/parent-program-list.ts';
import type { Database } from '../../store/sql/database.ts';
import { pageOf, type RowPage } from './pages.ts';

/** A list page. */
export function listParentPrograms(db: Database, scope: OrganizationScope, query: store.ListQuery): Promise<RowPage> {
  return pageOf(query, (limit) => store.listParentPrograms(db, scope, { ...query, limit }));
}
