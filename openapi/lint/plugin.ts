// Hands our rules to Redocly, which loads this file by the name of it in redocly.yaml and wants a default export.
import { contractRules } from './contract/index.ts';
import type { Rule } from './rule.ts';
import { workflowRules } from './workflows/index.ts';

const PLUGIN = 'charter';

const byName = (rules: readonly Rule[]) => Object.fromEntries(rules.map(({ name, visitor }) => [name, () => visitor]));

// biome-ignore lint/style/noDefaultExport: Redocly asks for one.
export default () => ({
  id: PLUGIN,
  rules: { oas3: byName(contractRules), arazzo1: byName(workflowRules) },
  configs: {
    all: {
      rules: Object.fromEntries([...contractRules, ...workflowRules].map(({ name }) => [`${PLUGIN}/${name}`, 'error'])),
    },
  },
});
