import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../../src/contract/document.ts';
import { type Context, nameOf, type Place, type Rule, report } from '../rule.ts';
import { memberAt, membersIn, operationsIn, type Part } from '../walk.ts';

// The mock serves the examples of GET operations as its data, so different items must have different ids.

export const oneId: Rule = {
  name: 'one-id',
  visitor: {
    Root(root, context) {
      const items = new Map<unknown, Item>();
      for (const item of itemsIn(root, context)) {
        const other = items.get(item.node['id']);
        if (other === undefined) items.set(item.node['id'], item);
        else if (!isDeepStrictEqual(item.node, other.node)) {
          report(context, {
            at: [item.place, other.place],
            message: `The examples "${other.example}" and "${item.example}" have different items with one id.`,
            remedy: 'Give one of the items another id, or make them equal.',
          });
        }
      }
    },
  },
  mistakes: [
    {
      find: '          - shelf: B 12\n',
      replace: '          - id: "1"\n            shelf: B 12\n          - id: "1"\n            shelf: B 13\n',
      says: 'The examples "FirstPage" and "FirstPage" have different items with one id. The other place is FILE:265.',
    },
  ],
};

type Item = { readonly node: Json; readonly place: Place; readonly example: string };

/**
 * Returns the items in the examples of successful responses to GET: the members of `data`, or the whole value. Leaves out items
 * without an id.
 */
function itemsIn(root: Json, context: Context): Item[] {
  return operationsIn(root, context)
    .filter(({ method }) => method === 'get')
    .flatMap((operation) =>
      memberAt(operation, ['responses', '200', 'content', 'application/json', 'examples'], context),
    )
    .flatMap((examples) => membersIn(examples, context))
    .flatMap(itemsOf)
    .filter(({ node }) => typeof node['id'] === 'string');
}

function itemsOf({ node: { value }, place }: Part): Item[] {
  if (!isObject(value)) return [];
  const example = nameOf(place);
  const { data } = value;
  if (!Array.isArray(data)) return [{ node: value, place: place.child(['value', 'id']), example }];
  return data.flatMap((node, i) =>
    isObject(node) ? [{ node, place: place.child(['value', 'data', String(i), 'id']), example }] : [],
  );
}
