import { isNode, type Rule, report } from '../rule.ts';

// Several requirements are alternatives, and none at all lets anybody in: what an operation asks for is said once, there.

export const oneKey: Rule = {
  name: 'one-key',
  visitor: {
    Operation({ security }, context) {
      const requirements = Array.isArray(security) ? security : [];
      const [first] = requirements;
      if (requirements.length === 1 && isNode(first) && Object.keys(first).length === 1) return;
      report(context, {
        at: security === undefined ? context.location.key() : context.location.child('security').key(),
        words: 'This operation does not say which one key it asks for.',
        remedy: 'Add "security:" with one entry, and in it the permission that is needed: - apiKey: ["parent_programs:read"].',
      });
    },
  },
  mistakes: [
    {
      replace: '      security:\n        - apiKey: []\n',
      by: '',
      says: 'This operation does not say which one key it asks for.',
    },
    {
      replace: '      security:\n        - apiKey: []\n',
      by: '      security:\n        - apiKey: []\n        - {}\n',
      says: 'This operation does not say which one key it asks for.',
    },
  ],
};
