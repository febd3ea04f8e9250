import { html as tagged } from 'hono/html';

/** HTML that is safe to send, because every value in it was escaped or is safe HTML itself. */
export type Html = Extract<ReturnType<typeof tagged>, string>;

/** A value in an `html` template; `null`, `undefined` and `false` render nothing. */
export type HtmlValue = string | number | Html | null | undefined | false | readonly HtmlValue[];

/** Returns the template as HTML. Escapes every value that is not HTML already. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const markup = tagged(strings, ...values);
  if (markup instanceof Promise) throw new Error('A template cannot wait: await its values first.');
  return markup;
}
