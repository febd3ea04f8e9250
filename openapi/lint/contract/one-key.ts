import { isObject, type Json } from '../../../src/contract/document.ts';
import { type Context, type Rule, report } from '../rule.ts';

// An operation without a security requirement would be open to everybody. Several requirements are alternatives: if an operation
// shows rows of several resources, the permission for one resource is enough, so each alternative must name a permission. A
// webhook needs its own `security: []`, because it has a signature in place of a key. Otherwise the requirement of the document
// would apply.

export const oneKey: Rule = {
  name: 'one-key',
  visitor: {
    Paths: {
      Operation(operation, context) {
        const { security } = operation;
        const requirements = Array.isArray(security) ? security : [];
        const isOneOfMany = requirements.length > 1;
        if (requirements.length > 0 && requirements.every((each) => isRequirement(each, isOneOfMany))) return;
        report(context, {
          at: placeOf(operation, context),
          message: 'This operation must have one security requirement, or alternatives that each name a permission.',
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
      says: 'This operation must have one security requirement, or alternatives that each name a permission.',
    },
    {
      find: '      security:\n        - apiKey: []\n',
      replace: '      security:\n        - apiKey: []\n        - {}\n',
      says: 'This operation must have one security requirement, or alternatives that each name a permission.',
    },
    {
      find: '      security: [] # of a webhook\n',
      replace: '',
      says: 'This webhook must have no security requirement.',
    },
  ],
};

function isRequirement(value: unknown, needsPermission: boolean): boolean {
  if (!isObject(value)) return false;
  const [[, permissions] = [], ...others] = Object.entries(value);
  return Array.isArray(permissions) && others.length === 0 && (permissions.length > 0 || !needsPermission);
}

function placeOf({ security }: Json, { location }: Context): object {
  return security === undefined ? location.key() : location.child('security').key();
}
