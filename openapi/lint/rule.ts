import { basename, extname } from 'node:path';
import type { Json } from '../../src/contract/document.ts';

/** A rule for the contract or for workflows. Redocly walks the document and calls the visitor. */
export type Rule = {
  /** The name in kebab-case, which is also the name of the rule's file. It is shown after each remedy. */
  readonly name: string;
  readonly visitor: Visitor;
  readonly mistakes: readonly Mistake[];
};

/** A change to `sample.yaml`, `sample.arazzo.yaml` or `sample.md` that only this rule reports. */
export type Mistake = {
  readonly find: string;
  readonly replace: string;
  /** The message that the rule reports for this mistake. FILE stands for the path of the file. */
  readonly says: string;
};

/**
 * The functions to call, by the name of an OpenAPI or Arazzo object, such as "Operation". A nested visitor applies only within
 * the object of that name: `Paths` contains the operations that clients call, `WebhooksMap` those that the server calls.
 */
type Visitor = { readonly [object: string]: ((node: Json, context: Context) => void) | Visitor };

/** Those members of Redocly's context for visitors that our rules use. */
export type Context = {
  readonly location: Place;
  readonly type: { readonly name: string };
  report(problem: { message: string; location: object }): void;
  /** Resolves a reference that was found in the file `from`. Any other value is returned unchanged. */
  resolve(value: unknown, from: string): { readonly node?: unknown; readonly location?: Place | undefined };
};

export type Place = {
  /** The JSON Pointer within the file, such as "#/properties/name". */
  readonly pointer: string;
  readonly source: { readonly absoluteRef: string };
  child(names: string | readonly string[]): Place;
  /** Returns the place of the member's name instead of its value. */
  key(): object;
};

/**
 * Reports a problem at one place, or at several if `at` is an array. Redocly passes on one string, so the message is its first
 * line and the remedy its second.
 */
export function report(
  context: Context,
  { at, message, remedy }: { at: object; message: string; remedy: string },
): void {
  context.report({ message: `${message}\n${remedy}`, location: at });
}

/** Returns whether the place has a name: the name of a file, component or field. */
export function isNamed({ pointer }: Place): boolean {
  return /^#\/$|\/(properties|schemas)\/[^/]+$/.test(pointer);
}

/** Returns the key of an object, or the name of its file if the object is the whole file. */
export function nameOf({ pointer, source }: Place): string {
  if (pointer === '#/') return basename(source.absoluteRef, extname(source.absoluteRef));
  return (pointer.split('/').at(-1) ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
}
