import { isObject, type Json } from '../../../src/api/document.ts';
import { type Context, type Place, type Rule, report } from '../rule.ts';

// When a value does not match a pattern or a format, the server's 422 ends with the text of "x-remedy".

export const remedy: Rule = {
  name: 'remedy',
  visitor: {
    Parameter(parameter, context) {
      checkWithin(parameter['schema'], context.location.child('schema'), context);
    },
    RequestBody({ content }, context) {
      const schema = isObject(content) && isObject(content['application/json']) && content['application/json']['schema'];
      checkWithin(schema, context.location.child(['content', 'application/json', 'schema']), context);
    },
  },
  mistakes: [
    {
      find: '          x-remedy: Give at least one character that is not blank.\n',
      replace: '',
      says: 'This pattern has no "x-remedy".',
    },
  ],
};

/** Redocly visits a schema only once, even if a response and a request use it, so this rule walks the requests itself. */
function checkWithin(value: unknown, place: Place, context: Context): void {
  if (!isObject(value)) return;
  if (value['$ref'] !== undefined) {
    const { node, location } = context.resolve(value, place.source.absoluteRef);
    return location === undefined ? undefined : checkWithin(node, location, context);
  }
  check(value, place, context);
  for (const [path, inner] of schemasIn(value)) checkWithin(inner, place.child(path), context);
}

function schemasIn(schema: Json): [path: string[], schema: unknown][] {
  const single = ['items', 'propertyNames', 'additionalProperties'].map((name): [string[], unknown] => [
    [name],
    schema[name],
  ]);
  const named = ['properties', 'allOf', 'anyOf', 'oneOf'].flatMap((name) =>
    Object.entries(Object(schema[name])).map(([key, inner]): [string[], unknown] => [[name, key], inner]),
  );
  return [...single, ...named];
}

function check(schema: Json, place: Place, context: Context): void {
  if (typeof schema['x-remedy'] === 'string') return;
  const kind = ['pattern', 'format'].find((name) => schema[name] !== undefined);
  if (kind === undefined) return;
  report(context, {
    at: place.child(kind).key(),
    message: `This ${kind} has no "x-remedy".`,
    remedy: 'Add "x-remedy:": one sentence that says what to send, such as "Use visible ASCII characters only, without spaces."',
  });
}
