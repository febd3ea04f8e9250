import type { Rule } from '../rule.ts';
import { knownOperation } from './known-operation.ts';

export const workflowRules: readonly Rule[] = [knownOperation];
