import { form, type Section } from '../http/page-routes.ts';
import { AUDIT_LOG_URL } from '../organization/head.ts';
import { downloadAuditLog } from './export.ts';
import { FILTER_FIELDS } from './filters.ts';
import { filterAuditLog, showAuditLog } from './page.ts';

export const auditLogPages: Section['pages'] = [
  { path: AUDIT_LOG_URL, get: showAuditLog, post: form(FILTER_FIELDS, filterAuditLog) },
  { path: `${AUDIT_LOG_URL}.csv`, get: downloadAuditLog },
];
