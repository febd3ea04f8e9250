import { basename, extname } from 'node:path';
import type { Json } from '../../src/contract/document.ts';

/** A rule for the contract or for workflows. Redocly walks the document and calls the functions of the visitor. */
export type Rule = {
  /** The name in kebab-case, which is also the name of the rule's file. It follows the remedy in each message. */
  readonly name: string;
  readonly visitor: Visitor;
  readonly mistakes: readonly Mistake[];
};

/** A change to `sample.yaml`, `sample.arazzo.yaml` or `sample.md` that only this rule must report. */
export type Mistake = {
  readonly find: string;
  readonly replace: string;
  /** The message of the rule. FILE stands for the path of the file. */
  readonly says: string;
};

/**
 * The functions to call, by the name of an OpenAPI or Arazzo object, such as "Operation". A nested visitor applies only within
 * that object: `Paths` contains the operations that clients call, `WebhooksMap` those that the server calls.
 */
type Visitor = { readonly [object: string]: ((node: Json, context: Context) => void) | Visitor };

/** The members of Redocly's visitor context that our rules use. */
export type Context = {
  readonly location: Place;
  readonly type: { readonly name: string };
  report(problem: { message: string; location: object }): void;
  /** Resolves a reference in the file `from`. Returns any other value unchanged. */
  resolve(value: unknown, from: string): { readonly node?: unknown; readonly location?: Place | undefined };
};

export type Place = {
  readonly pointer: string;
  readonly source: { readonly absoluteRef: string };
  child(names: string | readonly string[]): Place;
  /** Returns the place of the member's name rather than its value. */
  key(): object;
};

/**
 * Reports a problem at one place, or at several places if `at` is an array. Redocly passes on only one string: its first line is
 * the message, its second the remedy.
 */
export function report(
  context: Context,
  { at, message, remedy }: { at: object; message: string; remedy: string },
): void {
  context.report({ message: `${message}\n${remedy}`, location: at });
}

/** Returns whether the place has a name: that of a file, component or field. */
export function isNamed({ pointer }: Place): boolean {
  return /^#\/$|\/(properties|schemas)\/[^/]+$/.test(pointer);
}

/** Returns the key of the object, or the name of its file if the object is the whole file. */
export function nameOf({ pointer, source }: Place): string {
  if (pointer === '#/') return basename(source.absoluteRef, extname(source.absoluteRef));
  return (pointer.split('/').at(-1) ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
}
