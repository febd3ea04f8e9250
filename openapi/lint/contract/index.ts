import type { Rule } from '../rule.ts';
import { bounded } from './bounded.ts';
import { described } from './described.ts';
import { example } from './example.ts';
import { growth } from './growth.ts';
import { namedException } from './named-exception.ts';
import { oneId } from './one-id.ts';
import { oneKey } from './one-key.ts';
import { operationId } from './operation-id.ts';
import { portable } from './portable.ts';
import { remedy } from './remedy.ts';
import { responseHeaders } from './response-headers.ts';
import { sentence } from './sentence.ts';
import { uniqueOperationId } from './unique-operation-id.ts';

export const contractRules: readonly Rule[] = [
  bounded,
  described,
  example,
  growth,
  namedException,
  oneId,
  oneKey,
  operationId,
  portable,
  remedy,
  responseHeaders,
  sentence,
  uniqueOperationId,
];
