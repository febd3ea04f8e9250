import { isObject } from '../../../src/contract/document.ts';
import { type Rule, report } from '../rule.ts';

// Redocly's own rule would also require the headers in responses to a webhook, which clients send.

const NAMES = ['X-Request-Id', 'Cache-Control'];

export const responseHeaders: Rule = {
  name: 'response-headers',
  visitor: {
    Paths: {
      Response({ headers }, context) {
        const missing = NAMES.filter((name) => !isObject(headers) || headers[name] === undefined);
        for (const name of missing) {
          report(context, {
            at: context.location.key(),
            message: `This response does not declare the header ${name}, which every response has.`,
            remedy: 'Add it under "headers:", as in the other responses.',
          });
        }
      },
    },
  },
  mistakes: [
    {
      find: '            Cache-Control:\n              $ref: "#/components/headers/CacheControl"\n          content:\n            application/json:\n              schema:\n                $ref: "#/components/schemas/Message"\n',
      replace:
        '          content:\n            application/json:\n              schema:\n                $ref: "#/components/schemas/Message"\n',
      says: 'This response does not declare the header Cache-Control, which every response has.',
    },
  ],
};
