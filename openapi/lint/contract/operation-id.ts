import { type Rule, report } from '../rule.ts';

// It becomes the name of a function in the server and in the client.

export const operationId: Rule = {
  name: 'operation-id',
  visitor: {
    Operation({ operationId: id }, context) {
      if (typeof id !== 'string' || CAMEL_CASE.test(id)) return;
      report(context, {
        at: context.location.child('operationId'),
        words: `The operationId "${id}" is not in camelCase.`,
        remedy: 'Begin with a verb in small letters and each further word with a capital: "listParentPrograms".',
      });
    },
  },
  mistakes: [
    {
      replace: 'operationId: listBooks',
      by: 'operationId: list_books',
      says: 'The operationId "list_books" is not in camelCase.',
    },
  ],
};

const CAMEL_CASE = /^[a-z]+([A-Z][a-z0-9]*)*$/;
