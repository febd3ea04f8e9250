// The plugin that gives our rules to Redocly, which loads it by the path in redocly.yaml.
import { contractRules } from './contract/index.ts';
import type { Rule } from './rule.ts';
import { workflowRules } from './workflows/index.ts';

const PLUGIN = 'charter';

const byName = (rules: readonly Rule[]) => Object.fromEntries(rules.map(({ name, visitor }) => [name, () => visitor]));

// biome-ignore lint/style/noDefaultExport: Redocly loads the default export.
export default () => ({
  id: PLUGIN,
  rules: { oas3: byName(contractRules), arazzo1: byName(workflowRules) },
  configs: {
    all: {
      rules: Object.fromEntries([...contractRules, ...workflowRules].map(({ name }) => [`${PLUGIN}/${name}`, 'error'])),
    },
  },
});
