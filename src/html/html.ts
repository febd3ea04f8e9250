import { html as tagged } from 'hono/html';

/** Markup that is safe to send: every value in it was escaped, or is such markup itself. */
export type Html = Extract<ReturnType<typeof tagged>, string>;

/** A value between markup; null, undefined and false render nothing. */
export type HtmlValue = string | number | Html | null | undefined | false | readonly HtmlValue[];

/** Escapes every value. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const markup = tagged(strings, ...values);
  if (markup instanceof Promise) throw new Error('A template cannot wait: await its values first.');
  return markup;
}
