import type { PageRule } from '../page-rule.ts';
import { codeLabel } from './code-label.ts';
import { link } from './link.ts';

export const pageRules: readonly PageRule[] = [codeLabel, link];
