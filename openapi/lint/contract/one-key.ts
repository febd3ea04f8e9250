import { isObject, type Json } from '../../../src/contract/document.ts';
import { type Context, type Rule, report } from '../rule.ts';

// Several requirements would be alternatives, and an operation without any would be open to everybody. A webhook carries a
// signature and no key, but without a requirement of its own it would have that of the whole document.

export const oneKey: Rule = {
  name: 'one-key',
  visitor: {
    Paths: {
      Operation(operation, context) {
        const { security } = operation;
        const requirements = Array.isArray(security) ? security : [];
        const [first] = requirements;
        if (requirements.length === 1 && isObject(first) && Object.keys(first).length === 1) return;
        report(context, {
          at: placeOf(operation, context),
          message: 'This operation must have exactly one security requirement.',
          remedy: 'Add "security:" with one entry that names the permission: - apiKey: ["parent_programs:read"].',
        });
      },
    },
    WebhooksMap: {
      Operation(operation, context) {
        const { security } = operation;
        if (Array.isArray(security) && security.length === 0) return;
        report(context, {
          at: placeOf(operation, context),
          message: 'This webhook must have no security requirement.',
          remedy: 'Write "security: []": the server that sends it has no key.',
        });
      },
    },
  },
  mistakes: [
    {
      find: '      security:\n        - apiKey: []\n',
      replace: '',
      says: 'This operation must have exactly one security requirement.',
    },
    {
      find: '      security:\n        - apiKey: []\n',
      replace: '      security:\n        - apiKey: []\n        - {}\n',
      says: 'This operation must have exactly one security requirement.',
    },
    {
      find: '      security: [] # of a webhook\n',
      replace: '',
      says: 'This webhook must have no security requirement.',
    },
  ],
};

function placeOf({ security }: Json, { location }: Context): object {
  return security === undefined ? location.key() : location.child('security').key();
}
