import { exportAudit } from '../../service/audit/audit-log.ts';
import type { AuditRecord } from '../../store/audit/audit.ts';
import { typedOf } from '../forms/form.ts';
import { csvFile } from '../http/csv-file.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { FILTERS, readFilters } from './filters.ts';
import { refusedFilters } from './page.ts';

export async function downloadAuditLog(context: SignedInContext): Promise<View> {
  const { actor, dashboard, query } = context;
  const values = typedOf(FILTERS, query);
  const { filters, problem } = await readFilters(context, values);
  if (problem !== null) return refusedFilters(context, { values, problem, isExport: true });
  const pages = exportAudit(dashboard.db, actor, filters);
  return csvFile(context, { name: 'charter-audit-log', columns: COLUMNS, pages });
}

const COLUMNS = {
  time: ({ at }) => at.toISOString(),
  action: ({ action }) => action,
  by_name: ({ actorName }) => actorName,
  by_email: ({ actorEmail }) => actorEmail,
  user_name: ({ targetName }) => targetName,
  user_email: ({ targetEmail }) => targetEmail,
  key_id: ({ keyId }) => keyId,
  key_name: ({ keyName }) => keyName,
  key_prefix: ({ keyPrefix }) => keyPrefix,
  detail: ({ detail }) =>
    Object.entries(detail)
      .map(([name, text]) => `${name}: ${text}`)
      .join('; '),
  ip: ({ ip }) => ip,
  user_agent: ({ userAgent }) => userAgent,
  request_id: ({ requestId }) => requestId,
  id: ({ id }) => id,
} satisfies Record<string, (event: AuditRecord) => string | null>;
