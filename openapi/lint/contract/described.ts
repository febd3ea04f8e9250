import type { Json } from '../../../src/api/document.ts';
import { type Context, nameOf, type Rule, report } from '../rule.ts';

// Redocly's own rules ask for the descriptions of operations, parameters, responses and tags.

export const described: Rule = {
  name: 'described',
  visitor: {
    Schema(schema, context) {
      if (isShown(context.location.pointer)) check(schema, context);
    },
    Header: check,
    RequestBody: check,
    SecurityScheme: check,
    Server: check,
    ServerVariable: check,
  },
  mistakes: [
    { find: '          description: The title.\n', replace: '', says: '"title" has no description.' },
    { find: '          description: The next page.\n', replace: '', says: '"Link" has no description.' },
  ],
};

/** Schemas that readers see: a file, a component, a field, or the value of additional fields; no schema within those. */
function isShown(pointer: string): boolean {
  return /^#\/$|\/(properties|schemas)\/[^/]+$|\/additionalProperties$/.test(pointer);
}

function check(node: Json, context: Context): void {
  if (node['description'] !== undefined) return;
  const remedy = 'Add "description:": one sentence that tells API users what it is.';
  const message = `"${nameOf(context.location)}" has no description.`;
  report(context, { at: context.location.key(), message, remedy });
}
