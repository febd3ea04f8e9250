import { type Rule, report } from '../rule.ts';

// The operationId is the name of the operation's handler in the server, and of its function in generated clients.

export const operationId: Rule = {
  name: 'operation-id',
  visitor: {
    Operation({ operationId: id }, context) {
      if (typeof id !== 'string' || CAMEL_CASE.test(id)) return;
      report(context, {
        at: context.location.child('operationId'),
        message: `The operationId "${id}" is not in camelCase.`,
        remedy: 'Begin with a verb in lower case and capitalize each further word: "listParentPrograms".',
      });
    },
  },
  mistakes: [
    {
      find: 'operationId: listBooks',
      replace: 'operationId: list_books',
      says: 'The operationId "list_books" is not in camelCase.',
    },
  ],
};

const CAMEL_CASE = /^[a-z]+([A-Z][a-z0-9]*)*$/;
