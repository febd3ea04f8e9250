import { isObject } from '../../../src/api/document.ts';
import { type Rule, report } from '../rule.ts';

// Several requirements would be alternatives, and an operation without any would be open to everybody.

export const oneKey: Rule = {
  name: 'one-key',
  visitor: {
    Operation({ security }, context) {
      const requirements = Array.isArray(security) ? security : [];
      const [first] = requirements;
      if (requirements.length === 1 && isObject(first) && Object.keys(first).length === 1) return;
      report(context, {
        at: security === undefined ? context.location.key() : context.location.child('security').key(),
        message: 'This operation must have exactly one security requirement.',
        remedy: 'Add "security:" with one entry that names the permission: - apiKey: ["parent_programs:read"].',
      });
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
  ],
};
