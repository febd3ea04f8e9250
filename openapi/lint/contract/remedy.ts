import type { Json } from '../../../src/contract/document.ts';
import { type Context, type Place, type Rule, report } from '../rule.ts';
import { walkBody, walkSchemas } from '../walk.ts';

// The server's 422 response for a value that does not match a pattern or a format ends with the text of "x-remedy".

export const remedy: Rule = {
  name: 'remedy',
  visitor: {
    Paths: {
      Parameter(parameter, context) {
        walkSchemas(parameter['schema'], context.location.child('schema'), context, checkIn(context));
      },
      RequestBody(body, context) {
        walkBody(body, context, checkIn(context));
      },
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

function checkIn(context: Context): (schema: Json, place: Place) => void {
  return (schema, place) => check(schema, place, context);
}

function check(schema: Json, place: Place, context: Context): void {
  if (typeof schema['x-remedy'] === 'string') return;
  const kind = ['pattern', 'format'].find((name) => schema[name] !== undefined);
  if (kind === undefined) return;
  report(context, {
    at: place.child(kind).key(),
    message: `This ${kind} has no "x-remedy".`,
    remedy:
      'Add "x-remedy:": one sentence that says what to send, such as "Use visible ASCII characters only, without spaces."',
  });
}
