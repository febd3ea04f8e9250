import { form, type Section } from '../http/page-routes.ts';
import { downloadAuditLog } from './export.ts';
import { FILTER_FIELDS } from './filters.ts';
import { AUDIT_LOG, filterAuditLog, showAuditLog } from './page.ts';

export const auditLogPages: Section['pages'] = [
  { path: AUDIT_LOG, get: showAuditLog, post: form(FILTER_FIELDS, filterAuditLog) },
  { path: `${AUDIT_LOG}.csv`, get: downloadAuditLog },
];
