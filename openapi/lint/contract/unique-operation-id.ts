import { type Place, type Rule, report } from '../rule.ts';
import { operationsIn } from '../walk.ts';

// Redocly's own rule reports only one of the two operations.

export const uniqueOperationId: Rule = {
  name: 'unique-operation-id',
  visitor: {
    Root(root, context) {
      const places = new Map<unknown, Place>();
      for (const { node, place } of operationsIn(root, context)) {
        const { operationId: id } = node;
        const other = places.get(id);
        const own = place.child('operationId');
        if (id === undefined) continue;
        if (other === undefined) places.set(id, own);
        else
          report(context, {
            at: [own, other],
            message: `Two operations have the operationId "${id}".`,
            remedy: 'Give each operation its own id.',
          });
      }
    },
  },
  mistakes: [
    {
      find: 'operationId: createBook',
      replace: 'operationId: listBooks',
      says: 'Two operations have the operationId "listBooks". The other place is FILE:21.',
    },
    {
      find: 'operationId: onBookLent',
      replace: 'operationId: listBooks',
      says: 'Two operations have the operationId "listBooks". The other place is FILE:21.',
    },
  ],
};
