import { mayGovern } from '../../domain/people/role.ts';
import { typedOf } from '../forms/form.ts';
import { AUDIT_LOG_FILE_URL, AUDIT_LOG_URL, urlOf } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect } from '../http/view.ts';
import { proofOf, provenPage } from '../proof/proven.ts';
import { form, type SignedInPage } from '../routing/page-routes.ts';
import { downloadAuditLog } from './export.ts';
import { FILTERS } from './filters.ts';
import { filterAuditLog, showAuditLog } from './page.ts';

/**
 * Shows the log after the proof that the export requires. A redirect to the exported file would start a download and leave the
 * page that asked for the proof on the screen.
 */
const toLog = ({ query }: SignedInContext) =>
  redirect(urlOf(AUDIT_LOG_URL, { ...typedOf(FILTERS, query), done: 'proven' }));

const PURPOSE = 'export the audit log';

export const auditLogPages: readonly SignedInPage[] = [
  { path: AUDIT_LOG_URL, mayEnter: mayGovern, get: showAuditLog, post: form(FILTERS, filterAuditLog) },
  {
    path: AUDIT_LOG_FILE_URL,
    mayEnter: mayGovern,
    get: provenPage(PURPOSE, downloadAuditLog),
    post: proofOf(PURPOSE, toLog),
  },
];
