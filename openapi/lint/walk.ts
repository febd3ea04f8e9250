import { isObject, type Json, METHODS } from '../../src/contract/document.ts';
import type { Context, Place } from './rule.ts';

// For rules that compare parts of the whole contract: Redocly visits a part only once, however many references lead to it.

/** A part of the contract and where it is written. */
export type Part = { readonly node: Json; readonly place: Place };

/** Every operation and every webhook that can be read, in the contract's order; `root` is the whole contract. */
export function operationsIn(root: Json, context: Context): (Part & { readonly method: string })[] {
  return ['paths', 'webhooks']
    .flatMap((section) => membersOf({ node: root, place: context.location }, section, context))
    .flatMap((paths) => membersIn(paths, context))
    .flatMap((item) =>
      METHODS.flatMap((method) => membersOf(item, method, context).map((part) => ({ ...part, method }))),
    );
}

/** The members of an object that are objects. */
export function membersIn(part: Part, context: Context): Part[] {
  return Object.keys(part.node).flatMap((name) => membersOf(part, name, context));
}

/** The member at a path of names, with the references on the way followed; none where there is no object. */
export function memberAt(part: Part, path: readonly string[], context: Context): Part[] {
  return path.reduce<Part[]>((parts, name) => parts.flatMap((each) => membersOf(each, name, context)), [part]);
}

function membersOf({ node, place }: Part, name: string, context: Context): Part[] {
  const member = node[name];
  if (!isObject(member)) return [];
  if (member['$ref'] === undefined) return [{ node: member, place: place.child(name) }];
  const { node: target, location } = context.resolve(member, place.source.absoluteRef);
  return isObject(target) && location !== undefined ? [{ node: target, place: location }] : [];
}
