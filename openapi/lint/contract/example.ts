import { type Context, isNode, type Node, nameOf, type Rule, report } from '../rule.ts';

// The published pages, the mock and the tests all show and send the examples. Redocly checks that each one is valid.

export const example: Rule = {
  name: 'example',
  visitor: {
    MediaType: check,
    Parameter: check,
    Header: check,
    Example(node, context) {
      if (typeof node['summary'] === 'string') return;
      const remedy = 'Add "summary:", a few words that tell this example from the others.';
      report(context, { at: context.location, words: `The example "${nameOf(context.location)}" has no summary.`, remedy });
    },
  },
  mistakes: [
    {
      replace: '          examples:\n            ten:\n              summary: Ten books\n              value: 10\n',
      by: '',
      says: 'There is no example here.',
    },
    { replace: '      summary: The first page\n', by: '', says: 'The example "FirstPage" has no summary.' },
  ],
};

function check(node: Node, context: Context): void {
  const { examples } = node;
  if (isNode(examples) && Object.keys(examples).length > 0) return;
  report(context, {
    at: context.location,
    words: 'There is no example here.',
    remedy: 'Add "examples:" with at least one, under a name of its own: a "summary:" and a "value:".',
  });
}
