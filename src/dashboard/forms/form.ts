import { type Html, html } from '../../html/html.ts';
import { TOKEN_FIELD } from '../http/body.ts';
import type { Problem } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';

// A form is described once, by its fields. From the description follow the fields of its empty page, those of the page that
// shows it again after a refusal, the messages about each field, and the typed values that its handler gets.

/** A field of a form. `fields.ts` has one function for each kind. */
export type Field<Typed, Value, Props = unknown> = {
  /** It begins each message about the field. Empty for a field that nobody fills in. */
  readonly label: string;
  readonly isList: boolean;
  /** What the field shows again after a refusal; `undefined` if nothing. `sent` is empty if the field was not sent. */
  readonly typed: (sent: readonly string[]) => Typed;
  /** What the handler of the form gets. It throws a RequestError for a value that no page of ours sends. */
  readonly value: (sent: readonly string[], context: RequestContext) => Value;
  /** `props` is what the hints and options depend on. */
  readonly show: (shown: Shown<Typed>, props: Props) => Html;
};

export type Shown<Typed> = {
  /** As in HTML: "notice_email" for the field `noticeEmail`. */
  readonly name: string;
  readonly typed: Typed;
  readonly messages: readonly string[];
  /** Whether the form is shown because it was refused. */
  readonly isRefused: boolean;
};

/** The description of a form. Methods, unlike functions, may take a narrower argument, so every Field is one of these. */
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

/** What the fields of a form are filled in with. */
export type Typed<F extends Fields> = {
  readonly [N in keyof F as [TypedIn<F, N>] extends [undefined] ? never : N]: TypedIn<F, N>;
};

export type Values<F extends Fields> = { readonly [N in keyof F]: ReturnType<F[N]['value']> };

/** A form as its handler gets it. */
export type Form<F extends Fields> = { readonly values: Values<F>; readonly typed: Typed<F> };

/** A form as its page gets it. `problem` is why it was refused; `null` if it is shown for the first time. */
export type Filled<F extends Fields> = { readonly typed: Typed<F>; readonly problem: Problem | null };

/** Everything that any of the fields depends on. */
type PropsOf<F extends Fields> = F[keyof F] extends { show: (shown: never, props: infer Props) => Html }
  ? Props
  : never;

/** The markup of each field. */
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

/** What a form is filled in with by these parameters, such as those of a URL. */
export function typedOf<F extends Fields>(form: F, sent: URLSearchParams): Typed<F> {
  return mapFields(form, (field, key) => field.typed(sent.getAll(nameOf(key))));
}

/** The form before anybody fills it in. */
export function emptyOf<F extends Fields>(form: F): Typed<F> {
  return typedOf(form, new URLSearchParams());
}

/** The form that was sent. A field that it does not describe is refused, so that no value is ever assigned by its name. */
export function readForm<F extends Fields>(form: F, sent: URLSearchParams, context: RequestContext): Form<F> {
  const fields = new Map(Object.entries(form).map(([key, field]) => [nameOf(key), field]));
  for (const [name, value] of sent) {
    const field = fields.get(name);
    if (field === undefined && name !== TOKEN_FIELD) throw new RequestError('unexpected-field');
    if (field?.isList !== true && sent.getAll(name).length > 1) throw new RequestError('unexpected-field');
    // PostgreSQL's text type cannot hold it.
    if (value.includes('\0')) throw new RequestError('unreadable');
  }
  const values: Values<F> = mapFields(form, (field, key) => field.value(sent.getAll(nameOf(key)), context));
  return { values, typed: typedOf(form, sent) };
}

/** Why the form was refused, with a link to each field. It stands first on the page and takes the focus. */
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

/** The name of a field in HTML and in the messages of the services: "notice_email" for "noticeEmail". */
function nameOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An object with the same keys. Its type follows from the description, which the compiler cannot see through the entries. */
function mapFields<Result>(form: Fields, map: (field: Fields[string], key: string) => unknown): Result {
  return Object.fromEntries(Object.entries(form).map(([key, field]) => [key, map(field, key)])) as Result;
}
