// Hands our rules to Redocly, which loads this file by the name of it in redocly.yaml and wants a default export.
import { contractRules } from './contract/index.ts';

const PLUGIN = 'charter';

// biome-ignore lint/style/noDefaultExport: Redocly asks for one.
export default () => ({
  id: PLUGIN,
  rules: { oas3: Object.fromEntries(contractRules.map(({ name, visitor }) => [name, () => visitor])) },
  configs: { all: { rules: Object.fromEntries(contractRules.map(({ name }) => [`${PLUGIN}/${name}`, 'error'])) } },
});
