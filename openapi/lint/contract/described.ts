import { type Context, type Node, nameOf, type Rule, report } from '../rule.ts';

// Redocly itself asks for the descriptions of operations, parameters, responses and tags.

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
    { replace: '          description: The title.\n', by: '', says: '"title" has no description.' },
    { replace: '          description: The next page.\n', by: '', says: '"Link" has no description.' },
  ],
};

/** A component in its own file, a component, a field, or the value of any field; not what stands within those. */
function isShown(pointer: string): boolean {
  return /^#\/$|\/(properties|schemas)\/[^/]+$|\/additionalProperties$/.test(pointer);
}

function check(node: Node, context: Context): void {
  if (node['description'] !== undefined) return;
  const remedy = 'Add "description:", one sentence that says what it is to whoever uses the API.';
  const words = `"${nameOf(context.location)}" has no description.`;
  report(context, { at: context.location.key(), words, remedy });
}
