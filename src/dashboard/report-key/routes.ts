import { REPORT_KEY_URL } from '../addresses.ts';
import { form, type PublicPage } from '../http/page-routes.ts';
import { showReport, submitReport } from './page.ts';
import { MAX_REPORT } from './size.ts';

/** For anybody who has found a key. */
export const reportPages: readonly PublicPage[] = [
  { path: REPORT_KEY_URL, get: showReport, post: form(['text'], submitReport, { size: MAX_REPORT, takesTurns: true }) },
];
