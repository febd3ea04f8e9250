import { join } from 'node:path';
import { readBook } from '../book.ts';
import { nearest } from '../nearest.ts';
import { type Rule, report } from '../rule.ts';

// Redocly reads a workflow without the contract that it is about; nobody would know before it is run.

const ROOT = join(import.meta.dirname, '../../..');

export const knownOperation: Rule = {
  name: 'known-operation',
  visitor: {
    Step({ operationId }, context) {
      const known = readBook(ROOT).operationIds;
      if (typeof operationId === 'string' && known.has(operationId)) return;
      const near = typeof operationId === 'string' ? nearest(operationId, [...known]) : undefined;
      report(context, {
        at: operationId === undefined ? context.location.key() : context.location.child('operationId'),
        words:
          operationId === undefined
            ? 'This step does not say which operation it calls.'
            : `The contract has no operation "${operationId}".`,
        remedy: near === undefined ? `Give "operationId:" one of: ${[...known].join(', ')}.` : `Did you mean "${near}"?`,
      });
    },
  },
  mistakes: [
    {
      replace: 'operationId: getKey',
      by: 'operationId: getKeys',
      says: 'The contract has no operation "getKeys".',
    },
    {
      replace: 'operationId: getKey',
      by: 'workflowId: other',
      says: 'This step does not say which operation it calls.',
    },
  ],
};
