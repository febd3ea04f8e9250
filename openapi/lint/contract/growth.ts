import type { Json } from '../../../src/contract/document.ts';
import { type Context, isNamed, nameOf, type Place, type Rule, report } from '../rule.ts';
import { walkBody } from '../walk.ts';

// A later version may add fields to a response or an event, so its schema must allow unknown fields. In a request, an unknown
// field is a mistake of the client, which the server refuses.

export const growth: Rule = {
  name: 'growth',
  visitor: {
    Paths: {
      RequestBody(body, context) {
        walkBody(body, context, (schema, place) => {
          if (!isRecord(schema) || schema['additionalProperties'] === false) return;
          report(context, {
            at: place.key(),
            message: `${nameIn(place)} accepts unknown fields in requests.`,
            remedy: 'Add "additionalProperties: false".',
          });
        });
      },
    },
    WebhooksMap: {
      RequestBody(body, context) {
        walkBody(body, context, refuseClosed('events', context));
      },
    },
    Response(response, context) {
      walkBody(response, context, refuseClosed('responses', context));
    },
  },
  mistakes: [
    {
      find: '      additionalProperties: false # of a book\n',
      replace: '',
      says: '"Book" accepts unknown fields in requests.',
    },
    {
      find: '      description: One page of books.\n      required: [data]\n',
      replace: '      description: One page of books.\n      additionalProperties: false\n      required: [data]\n',
      says: '"BookPage" allows no new fields in responses.',
    },
    {
      find: '      description: A book was lent.\n',
      replace: '      description: A book was lent.\n      additionalProperties: false\n',
      says: '"BookLentEvent" allows no new fields in events.',
    },
  ],
};

function refuseClosed(kind: 'events' | 'responses', context: Context): (schema: Json, place: Place) => void {
  return (schema, place) => {
    if (schema['additionalProperties'] !== false) return;
    report(context, {
      at: place.child('additionalProperties').key(),
      message: `${nameIn(place)} allows no new fields in ${kind}.`,
      remedy:
        'Remove "additionalProperties: false", so that a later version can add a field. The server still sends only declared fields.',
    });
  };
}

function isRecord(schema: Json): boolean {
  return schema['properties'] !== undefined;
}

function nameIn(place: Place): string {
  return isNamed(place) ? `"${nameOf(place)}"` : 'This object';
}
