import type { Json } from '../../../src/contract/document.ts';
import { type Context, isNamed, nameOf, type Place, type Rule, report } from '../rule.ts';

// Does not check operations, parameters, responses and tags, because Redocly's own rules require their descriptions.

export const described: Rule = {
  name: 'described',
  visitor: {
    Schema(schema, context) {
      if (isShown(context.location)) check(schema, context);
    },
    Header: check,
    RequestBody: check,
    SecurityScheme: check,
    Server: check,
    ServerVariable: refuseDescription,
  },
  mistakes: [
    { find: '          description: The title.\n', replace: '', says: '"title" has no description.' },
    { find: '          description: The next page.\n', replace: '', says: '"Link" has no description.' },
    {
      find: '  - url: http://127.0.0.1:3000\n',
      replace:
        '  - url: "{origin}"\n    variables:\n      origin:\n        default: http://127.0.0.1:3000\n        description: The origin.\n',
      says: 'The server variable "origin" has a description, which some tools refuse.',
    },
  ],
};

/**
 * Returns whether the documentation shows the schema by itself: a file, a component, a field, or the value of additional fields.
 */
function isShown(place: Place): boolean {
  return isNamed(place) || place.pointer.endsWith('/additionalProperties');
}

function check(node: Json, context: Context): void {
  if (node['description'] !== undefined) return;
  const remedy = 'Add "description:": one sentence that tells API users what it is.';
  const message = `"${nameOf(context.location)}" has no description.`;
  report(context, { at: context.location.key(), message, remedy });
}

/**
 * Reports the description of a server variable. The OpenAPI 3.1 JSON Schema of 2022 misspells the name of this member. orval 7
 * uses that JSON Schema and therefore refuses such a description.
 */
function refuseDescription(node: Json, context: Context): void {
  if (node['description'] === undefined) return;
  const message = `The server variable "${nameOf(context.location)}" has a description, which some tools refuse.`;
  const remedy = 'Say what it is in the description of the server.';
  report(context, { at: context.location.child('description').key(), message, remedy });
}
