import { followReference, type Json, namesIn } from '../../src/contract/document.ts';
import { objectOf } from './json.ts';

/** An object of the document and, where a reference led to it, the name of that component: "schema ParentProgram". */
export type Resolved = { readonly node: Json; readonly component: string | null };
export type Resolve = (value: unknown) => Resolved;

/** The sections of `components`, and the word for one component of each. */
export const SECTIONS: Readonly<Record<string, string>> = {
  schemas: 'schema',
  responses: 'response',
  parameters: 'parameter',
  headers: 'header',
  requestBodies: 'request body',
  examples: 'example',
  securitySchemes: 'security scheme',
  pathItems: 'path item',
  links: 'link',
  callbacks: 'callback',
};

export function resolverOf(document: Json): Resolve {
  return (value) => {
    const { target, reference } = followReference(document, objectOf(value));
    return { node: target, component: reference === null ? null : componentOf(reference) };
  };
}

function componentOf(reference: string): string | null {
  const [root, section = '', name, ...deeper] = namesIn(reference);
  const kind = SECTIONS[section];
  return root === 'components' && kind !== undefined && name !== undefined && deeper.length === 0
    ? `${kind} ${name}`
    : null;
}
