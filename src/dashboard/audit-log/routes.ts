import type { Section } from '../http/page-routes.ts';
import { downloadAuditLog } from './export.ts';
import { showAuditLog } from './page.ts';

export const auditLogPages: Section['pages'] = [
  { path: '/organization/audit-log', get: showAuditLog },
  { path: '/organization/audit-log.csv', get: downloadAuditLog },
];
