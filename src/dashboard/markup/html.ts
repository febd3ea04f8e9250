import { html as tagged } from 'hono/html';

/** Markup that is safe to show: everything put into it was escaped, or is markup itself. */
export type Html = Extract<ReturnType<typeof tagged>, string>;

export type HtmlValue = string | number | Html | null | undefined | false | readonly HtmlValue[];

/** Escapes whatever is put in; null, undefined and false show nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const made = tagged(strings, ...values);
  if (made instanceof Promise) throw new Error('A page waits for nothing: gather what it shows before.');
  return made;
}
