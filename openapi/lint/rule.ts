import { basename, extname } from 'node:path';

/** A rule of ours about the contract, or about workflows. Redocly walks the document and calls the visitor. */
export type Rule = {
  /** In kebab-case, as its file; shown behind each remedy. */
  readonly name: string;
  readonly visitor: Visitor;
  readonly mistakes: readonly Mistake[];
};

/** A change of `sample.yaml`, `sample.arazzo.yaml` or `sample.md` that this rule finds, and nothing else does. */
export type Mistake = {
  readonly replace: string;
  readonly by: string;
  /** What the rule then says. */
  readonly says: string;
};

export type Node = Readonly<Record<string, unknown>>;

/** By the name of OpenAPI's or Arazzo's object, such as "Operation". */
export type Visitor = { readonly [object: string]: (node: Node, context: Context) => void };

/** Of what Redocly hands to a visitor, what we use. */
export type Context = {
  readonly location: Place;
  readonly type: { readonly name: string };
  report(problem: { message: string; location: object }): void;
  /** Follows a reference, if it is one, that stands in the file `from`. */
  resolve(value: unknown, from: string): { readonly node?: unknown; readonly location?: Place | undefined };
};

export type Place = {
  /** "#/properties/name", within its file. */
  readonly pointer: string;
  readonly source: { readonly absoluteRef: string };
  child(names: string | readonly string[]): Place;
  /** Its name rather than its value. */
  key(): object;
};

/** `words` say what is wrong, `remedy` what to do; they travel through Redocly as two lines. */
export function report(context: Context, { at, words, remedy }: { at: object; words: string; remedy: string }): void {
  context.report({ message: `${words}\n${remedy}`, location: at });
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How a reader knows it: by its key, or by the name of its file. */
export function nameOf({ pointer, source }: Place): string {
  if (pointer === '#/') return basename(source.absoluteRef, extname(source.absoluteRef));
  return (pointer.split('/').at(-1) ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
}
