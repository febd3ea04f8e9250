// Compares the named components. Their names are names of types in clients. Their contents are compared here only if no
// operation uses them.

import type { Json } from '../../src/contract/document.ts';
import { compareRequestBody } from './compare-operation.ts';
import { compareParameter } from './compare-parameters.ts';
import { compareResponse } from './compare-responses.ts';
import { compareSchema } from './compare-schema.ts';
import { type Comparison, compareFields, type FieldRules, type Pair } from './comparison.ts';
import { hasOwn, isSame, namesOf, objectOf } from './json.ts';
import { spotOf } from './place.ts';
import { SECTIONS } from './resolve.ts';

const SECURITY_SCHEME: FieldRules = {
  description: 'words changed',
  bearerFormat: 'words changed',
  type: 'security scheme changed',
  scheme: 'security scheme changed',
  in: 'security scheme changed',
  name: 'security scheme changed',
  flows: 'security scheme changed',
  openIdConnectUrl: 'security scheme changed',
};

const COMPARERS: Readonly<Record<string, (comparison: Comparison, pair: Pair<unknown>) => void>> = {
  schemas: (comparison, pair) => {
    compareSchema(comparison, { ...pair, direction: 'request' });
    compareSchema(comparison, { ...pair, direction: 'response' });
  },
  responses: compareResponse,
  parameters: compareParameter,
  headers: (comparison, pair) => compareParameter(comparison, { ...pair, direction: 'response' }),
  requestBodies: compareRequestBody,
  securitySchemes: (comparison, pair) =>
    compareFields(comparison, { ...pair, before: objectOf(pair.before), after: objectOf(pair.after) }, SECURITY_SCHEME),
};

/** Examples are identified by their names where they are used, not by these names. */
const NAMELESS = ['examples'];

export function compareComponents(comparison: Comparison, { before, after, ...rest }: Pair<Json>): void {
  const sections = namesOf(before, after).filter((section) => !NAMELESS.includes(section));
  for (const section of sections)
    compareSection(
      comparison,
      { ...rest, before: objectOf(before[section]), after: objectOf(after[section]) },
      section,
    );
}

function compareSection(comparison: Comparison, pair: Pair<Json>, section: string): void {
  const { report } = comparison;
  const { spot, direction, before, after } = pair;
  const kind = SECTIONS[section] ?? section;
  const news = new Set(namesOf(after).filter((name) => !hasOwn(before, name)));
  for (const name of namesOf(before)) {
    const component = `${kind} ${name}`;
    const successor = [...news].find((candidate) => isSame(after[candidate], before[name]));
    if (hasOwn(after, name)) {
      compareContents(comparison, { ...pair, before: before[name], after: after[name] }, { section, component });
    } else if (successor !== undefined) {
      news.delete(successor);
      report('component renamed', spot, direction, { before: component, after: `${kind} ${successor}` });
    } else {
      report('component removed', spot, direction, { name: component });
    }
  }
  for (const name of news) report('component added', spotOf(`${kind} ${name}`), direction);
}

function compareContents(
  comparison: Comparison,
  contents: Pair<unknown>,
  { section, component }: { section: string; component: string },
): void {
  if (comparison.compared.has(component)) return;
  const pair = { ...contents, spot: spotOf(component) };
  const compare = COMPARERS[section];
  if (compare !== undefined) compare(comparison, pair);
  else if (!isSame(pair.before, pair.after))
    comparison.report('unknown changed', pair.spot, pair.direction, { name: 'content', before: '...', after: '...' });
}
