import { join } from 'node:path';
import { readLinkTargets } from '../link-targets.ts';
import { nearest } from '../nearest.ts';
import { type Rule, report } from '../rule.ts';

// Redocly lints a workflow without the contract. Without this rule, an unknown operation would be noticed only when the workflow
// runs.

const ROOT = join(import.meta.dirname, '../../..');

export const knownOperation: Rule = {
  name: 'known-operation',
  visitor: {
    Step({ operationId }, context) {
      const known = readLinkTargets(ROOT, null).operationIds;
      if (typeof operationId === 'string' && known.has(operationId)) return;
      const near = typeof operationId === 'string' ? nearest(operationId, [...known]) : undefined;
      report(context, {
        at: operationId === undefined ? context.location.key() : context.location.child('operationId'),
        message:
          operationId === undefined
            ? 'This step names no operation.'
            : `The contract has no operation "${operationId}".`,
        remedy:
          near === undefined ? `Set "operationId:" to one of: ${[...known].join(', ')}.` : `Did you mean "${near}"?`,
      });
    },
  },
  mistakes: [
    {
      find: 'operationId: getKey',
      replace: 'operationId: getKeys',
      says: 'The contract has no operation "getKeys".',
    },
    {
      find: 'operationId: getKey',
      replace: 'workflowId: other',
      says: 'This step names no operation.',
    },
  ],
};
