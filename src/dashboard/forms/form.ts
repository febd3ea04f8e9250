import { type Html, html } from '../../html/html.ts';
import { TOKEN_FIELD } from '../http/body.ts';
import type { Problem } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';

// The fields of a form are described once. The description defines the empty form, the form that is shown again after a refusal,
// the messages about each field, and the types of the values that the handler gets.

/** A field of a form. The functions in `fields.ts` create the kinds of fields. */
export type Field<Typed, Value, Props = unknown> = {
  /**
   * The label, which is also the start of each message about the field. Empty if the field is not for people, such as a hidden
   * field.
   */
  readonly label: string;
  readonly isList: boolean;
  /**
   * Returns what the form shows in the field after a refusal, or `undefined` for nothing. `sent` is empty if the field was not
   * sent.
   */
  readonly typed: (sent: readonly string[]) => Typed;
  /** Returns the value for the form's handler. Throws a RequestError if no page of the dashboard could have sent the value. */
  readonly value: (sent: readonly string[], context: RequestContext) => Value;
  /** Returns the markup of the field. Its hints and options depend on `props`. */
  readonly show: (shown: Shown<Typed>, props: Props) => Html;
};

export type Shown<Typed> = {
  /** The name in HTML: "notice_email" for the field `noticeEmail`. */
  readonly name: string;
  readonly typed: Typed;
  readonly messages: readonly string[];
  readonly isRefused: boolean;
};

/**
 * The fields of a form, by their keys. The functions are declared as methods, because TypeScript checks the parameters of methods
 * less strictly. Every Field can therefore be assigned to this type.
 */
export type Fields = Readonly<
  Record<
    string,
    {
      readonly label: string;
      readonly isList: boolean;
      typed(sent: readonly string[]): unknown;
      value(sent: readonly string[], context: RequestContext): unknown;
      show(shown: Shown<unknown>, props: unknown): Html;
    }
  >
>;

type TypedIn<F extends Fields, N extends keyof F> = ReturnType<F[N]['typed']>;

/** The values that a form shows in its fields. */
export type Typed<F extends Fields> = {
  readonly [N in keyof F as [TypedIn<F, N>] extends [undefined] ? never : N]: TypedIn<F, N>;
};

export type Values<F extends Fields> = { readonly [N in keyof F]: ReturnType<F[N]['value']> };

/** A form as the handler gets it. */
export type Form<F extends Fields> = { readonly values: Values<F>; readonly typed: Typed<F> };

/** A form as the page shows it. `problem` is why the form was refused; `null` if the form is shown for the first time. */
export type Filled<F extends Fields> = { readonly typed: Typed<F>; readonly problem: Problem | null };

/** The props that all fields of the form together need. */
type PropsOf<F extends Fields> = F[keyof F] extends { show: (shown: never, props: infer Props) => Html }
  ? Props
  : never;

export function fieldsOf<F extends Fields>(
  form: F,
  { typed, problem }: Filled<F>,
  ...[props]: unknown extends PropsOf<F> ? [] : [props: PropsOf<F>]
): { readonly [N in keyof F]: Html } {
  const texts = new Map<string, unknown>(Object.entries(typed));
  return mapFields(form, (field, key) => {
    const name = nameOf(key);
    const messages = problem?.fields[name] ?? [];
    return field.show({ name, typed: texts.get(key), messages, isRefused: problem !== null }, props);
  });
}

/** Returns the values of the form's fields in `sent`, such as the parameters of a URL. */
export function typedOf<F extends Fields>(form: F, sent: URLSearchParams): Typed<F> {
  return mapFields(form, (field, key) => field.typed(sent.getAll(nameOf(key))));
}

/** Returns the values of the form before anybody has filled it in. */
export function emptyOf<F extends Fields>(form: F): Typed<F> {
  return typedOf(form, new URLSearchParams());
}

/**
 * Returns the values of a submitted form. Throws if the form contains a field that is not in the description. A client can
 * therefore not choose the name of a property that code assigns.
 */
export function readForm<F extends Fields>(form: F, sent: URLSearchParams, context: RequestContext): Form<F> {
  const fields = new Map(Object.entries(form).map(([key, field]) => [nameOf(key), field]));
  for (const [name, value] of sent) {
    const field = fields.get(name);
    if (field === undefined && name !== TOKEN_FIELD) throw new RequestError('unexpected-field');
    if (field?.isList !== true && sent.getAll(name).length > 1) throw new RequestError('unexpected-field');
    // A text value in PostgreSQL cannot contain the character U+0000.
    if (value.includes('\0')) throw new RequestError('unreadable');
  }
  const values: Values<F> = mapFields(form, (field, key) => field.value(sent.getAll(nameOf(key)), context));
  return { values, typed: typedOf(form, sent) };
}

/** Returns whether at least one field of a filter is filled in. */
export function isFiltered(values: Readonly<Record<string, string>>): boolean {
  return Object.values(values).some((value) => value !== '');
}

/** Returns a summary of why the form was refused, with a link to each wrong field. The summary takes the focus. */
export function problemSummary(problem: Problem | null, form: Fields = {}): Html | false {
  if (problem === null) return false;
  const labels = new Map(Object.entries(form).map(([key, { label }]) => [nameOf(key), label]));
  const lines = Object.entries(problem.fields).flatMap(([name, messages]) =>
    messages.map((message) => {
      const label = labels.get(name) ?? '';
      return label === ''
        ? html`<li>${name} ${message}</li>`
        : html`<li><a href="#${name}">${label} ${message}</a></li>`;
    }),
  );
  return html`<div class="notice danger" role="alert" tabindex="-1" autofocus>
<p><strong>${lines.length === 0 ? problem.message : 'Please correct:'}</strong></p>
${lines.length > 0 && html`<ul>${lines}</ul>`}
</div>`;
}

/** Returns the name of a field in HTML and in the messages of the services: "notice_email" for "noticeEmail". */
function nameOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Returns an object with the same keys as the form. The cast is needed because Object.fromEntries() loses the types of the
 * entries.
 */
function mapFields<Result>(form: Fields, map: (field: Fields[string], key: string) => unknown): Result {
  return Object.fromEntries(Object.entries(form).map(([key, field]) => [key, map(field, key)])) as Result;
}
