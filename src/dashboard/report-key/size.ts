import type { MaxSize } from '../http/forms.ts';

/** 256 KiB: long lines of a log, or thousands of keys. */
export const MAX_REPORT: MaxSize = { bytes: 256 * 1024, error: 'report-too-large' };
