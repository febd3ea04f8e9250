import { isObject, type Json } from '../../../src/contract/document.ts';
import { type Context, nameOf, type Rule, report } from '../rule.ts';

// The documentation, the mock and the tests use the examples. Redocly's own rules check that each example matches its schema.

export const example: Rule = {
  name: 'example',
  visitor: {
    MediaType: check,
    Parameter: check,
    Header: check,
    Example(node, context) {
      if (typeof node['summary'] === 'string') return;
      const remedy = 'Add "summary:": a few words that distinguish this example from the others.';
      report(context, {
        at: context.location,
        message: `The example "${nameOf(context.location)}" has no summary.`,
        remedy,
      });
    },
  },
  mistakes: [
    {
      find: '          examples:\n            ten:\n              summary: Ten books\n              value: 10\n',
      replace: '',
      says: 'An example is missing here.',
    },
    { find: '      summary: The first page\n', replace: '', says: 'The example "FirstPage" has no summary.' },
  ],
};

function check(node: Json, context: Context): void {
  const { examples } = node;
  if (isObject(examples) && Object.keys(examples).length > 0) return;
  report(context, {
    at: context.location,
    message: 'An example is missing here.',
    remedy: 'Add "examples:" with at least one named example that has a "summary:" and a "value:".',
  });
}
