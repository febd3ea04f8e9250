import type { PageRule } from '../page-rule.ts';
import { codeContent } from './code-content.ts';
import { codeLabel } from './code-label.ts';
import { link } from './link.ts';

export const pageRules: readonly PageRule[] = [codeContent, codeLabel, link];
