// The plugin that adds Charter's rules to Redocly, which loads this file by the path in redocly.yaml.
import { examples, properties } from './compose.ts';
import { bounded } from './contract/bounded.ts';
import { described } from './contract/described.ts';
import { example } from './contract/example.ts';
import { growth } from './contract/growth.ts';
import { namedException } from './contract/named-exception.ts';
import { oneId } from './contract/one-id.ts';
import { oneKey } from './contract/one-key.ts';
import { operationId } from './contract/operation-id.ts';
import { portable } from './contract/portable.ts';
import { remedy } from './contract/remedy.ts';
import { responseHeaders } from './contract/response-headers.ts';
import { sentence } from './contract/sentence.ts';
import { unambiguousPath } from './contract/unambiguous-path.ts';
import { uniqueOperationId } from './contract/unique-operation-id.ts';
import type { Rule } from './rule.ts';
import { knownOperation } from './workflows/known-operation.ts';

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
  unambiguousPath,
  uniqueOperationId,
];

export const workflowRules: readonly Rule[] = [knownOperation];

const PLUGIN = 'charter';

const byName = (rules: readonly Rule[]) => Object.fromEntries(rules.map(({ name, visitor }) => [name, () => visitor]));

// biome-ignore lint/style/noDefaultExport: Redocly loads the default export.
export default () => ({
  id: PLUGIN,
  rules: { oas3: byName(contractRules), arazzo1: byName(workflowRules) },
  preprocessors: { oas3: { 'composed-examples': () => examples, 'composed-properties': () => properties } },
  configs: {
    all: {
      preprocessors: { [`${PLUGIN}/composed-examples`]: 'on', [`${PLUGIN}/composed-properties`]: 'on' },
      rules: Object.fromEntries([...contractRules, ...workflowRules].map(({ name }) => [`${PLUGIN}/${name}`, 'error'])),
    },
  },
});
