import { type Context, isNode, type Node, type Place, type Rule, report } from '../rule.ts';

// The server hands the words of "x-remedy" to whoever sent what a pattern or a format refuses.

export const remedy: Rule = {
  name: 'remedy',
  visitor: {
    Parameter(parameter, context) {
      checkWithin(parameter['schema'], context.location.child('schema'), context);
    },
    RequestBody({ content }, context) {
      const schema = isNode(content) && isNode(content['application/json']) && content['application/json']['schema'];
      checkWithin(schema, context.location.child(['content', 'application/json', 'schema']), context);
    },
  },
  mistakes: [
    {
      replace: '          x-remedy: Give at least one character that is not blank.\n',
      by: '',
      says: 'Whoever breaks this pattern is not told what to send instead.',
    },
  ],
};

/** Redocly does not visit again what it has visited as a part of an answer, say; so the walk is our own. */
function checkWithin(value: unknown, place: Place, context: Context): void {
  if (!isNode(value)) return;
  if (value['$ref'] !== undefined) {
    const { node, location } = context.resolve(value, place.source.absoluteRef);
    return location === undefined ? undefined : checkWithin(node, location, context);
  }
  check(value, place, context);
  for (const [path, inner] of schemasIn(value)) checkWithin(inner, place.child(path), context);
}

function schemasIn(schema: Node): [path: string[], schema: unknown][] {
  const single = ['items', 'propertyNames', 'additionalProperties'].map((name): [string[], unknown] => [
    [name],
    schema[name],
  ]);
  const named = ['properties', 'allOf', 'anyOf', 'oneOf'].flatMap((name) =>
    Object.entries(Object(schema[name])).map(([key, inner]): [string[], unknown] => [[name, key], inner]),
  );
  return [...single, ...named];
}

function check(schema: Node, place: Place, context: Context): void {
  if (typeof schema['x-remedy'] === 'string') return;
  const kind = ['pattern', 'format'].find((name) => schema[name] !== undefined);
  if (kind === undefined) return;
  report(context, {
    at: place.child(kind).key(),
    words: `Whoever breaks this ${kind} is not told what to send instead.`,
    remedy: 'Add "x-remedy:", one sentence: "Use visible ASCII characters only, without blanks."',
  });
}
