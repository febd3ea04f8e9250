import { basename, extname } from 'node:path';
import type { Json } from '../../src/contract/document.ts';

/** A rule for the contract or for workflows. Redocly walks the document and calls the visitor. */
export type Rule = {
  /** The name in kebab-case, which is also that of its file. It is shown after each remedy. */
  readonly name: string;
  readonly visitor: Visitor;
  readonly mistakes: readonly Mistake[];
};

/** A change of `sample.yaml`, `sample.arazzo.yaml` or `sample.md` that this rule finds, and no other rule. */
export type Mistake = {
  readonly find: string;
  readonly replace: string;
  /** The rule's message for it; FILE stands for the file. */
  readonly says: string;
};

/**
 * By the name of an object of OpenAPI or Arazzo, such as "Operation". A visitor in place of a function is for what is within
 * such objects: `Paths` are the operations that clients call, and `WebhooksMap` those that the server calls.
 */
type Visitor = { readonly [object: string]: ((node: Json, context: Context) => void) | Visitor };

/** The members that are used of the context that Redocly gives to a visitor. */
export type Context = {
  readonly location: Place;
  readonly type: { readonly name: string };
  report(problem: { message: string; location: object }): void;
  /** Follows a reference found in the file `from`; any other value comes back as it is. */
  resolve(value: unknown, from: string): { readonly node?: unknown; readonly location?: Place | undefined };
};

export type Place = {
  /** Within the file: "#/properties/name". */
  readonly pointer: string;
  readonly source: { readonly absoluteRef: string };
  child(names: string | readonly string[]): Place;
  /** The position of the name rather than of the value. */
  key(): object;
};

/** Redocly passes on one text, so message and remedy are its two lines. `at`: a place, or several. */
export function report(
  context: Context,
  { at, message, remedy }: { at: object; message: string; remedy: string },
): void {
  context.report({ message: `${message}\n${remedy}`, location: at });
}

/** Whether a schema has a name: that of its file, component or field. */
export function isNamed({ pointer }: Place): boolean {
  return /^#\/$|\/(properties|schemas)\/[^/]+$/.test(pointer);
}

/** The key of an object, or the name of its file if it is the whole file. */
export function nameOf({ pointer, source }: Place): string {
  if (pointer === '#/') return basename(source.absoluteRef, extname(source.absoluteRef));
  return (pointer.split('/').at(-1) ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
}
