import { DAY_MS, MINUTE_MS, type TimeSpan } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import { safeNext } from '../http/addresses.ts';
import type { RequestContext, SignedInContext } from '../http/request-context.ts';
import { hiddenInput } from '../markup/parts.ts';
import type { Field, Shown } from './form.ts';
import { newFormId, readFormId } from './one-time-form.ts';

// The kinds of fields. If a hint, an option or an attribute depends on the page, it is a function of the page's `props`.

type Of<Props, Content> = Content | ((props: Props) => Content);

type About<Props> = {
  readonly label: string;
  readonly hint?: Of<Props, string | Html>;
  /** Further attributes of the input, such as `maxlength`, `autocomplete` or `required`. */
  readonly attributes?: Of<Props, Html>;
};

type AboutText<Props> = About<Props> & {
  /** Whether the input has the focus when the form is first shown. */
  readonly hasFocus?: Of<Props, boolean>;
  /**
   * Whether the field is needed for only one option of a select. The style sheet then shows the field only while that option is
   * selected.
   */
  readonly isChosen?: boolean;
};

type TextField<Props> = Field<string, string, Props>;

const firstOf = (sent: readonly string[]) => sent[0] ?? '';
const ONE = { isList: false, typed: firstOf, value: firstOf };

/** Creates a field with one line of text. `type` is the type of the HTML input element. */
export function text<Props>(about: AboutText<Props> & { readonly type?: string }): TextField<Props> {
  const { label, type = 'text', hasFocus = false } = about;
  return {
    ...ONE,
    label,
    show: (shown, props) =>
      fieldMarkup(about, { shown, props }, (attributes) => {
        const isFocused = !shown.isRefused && contentOf(hasFocus, props);
        return html`<input ${attributes} type="${type}" value="${shown.typed}"${isFocused && html` autofocus`}>`;
      }),
  };
}

/** Creates a field with several lines of text. */
export function lines<Props>(about: About<Props>): TextField<Props> {
  return {
    ...ONE,
    label: about.label,
    show: (shown, props) =>
      fieldMarkup(about, { shown, props }, (attributes) => html`<textarea ${attributes}>${shown.typed}</textarea>`),
  };
}

export type Option = { readonly value: string; readonly words: string };

export function select<Props>(
  about: About<Props> & { readonly options: Of<Props, readonly Option[]> },
): TextField<Props> {
  return {
    ...ONE,
    label: about.label,
    show: (shown, props) =>
      fieldMarkup(
        about,
        { shown, props },
        (attributes) =>
          html`<select ${attributes}>${contentOf(about.options, props).map(
            ({ value, words }) =>
              html`<option value="${value}"${value !== '' && value === shown.typed && html` selected`}>${words}</option>`,
          )}</select>`,
      ),
  };
}

type Choice = { readonly value: string; readonly words: string | Html; readonly hint: string | Html };

/** Creates a group of check boxes, each with its own value. */
export function boxes<Props>({
  label,
  options,
}: {
  readonly label: string;
  readonly options: Of<Props, readonly Choice[]>;
}): Field<readonly string[], readonly string[], Props> {
  return {
    label,
    isList: true,
    typed: (sent) => sent,
    value: (sent) => sent,
    show: ({ name, typed, messages }, props) =>
      html`<fieldset class="field" id="${name}" tabindex="-1"><legend>${label}</legend>
${errorLines({ name, label, messages })}
${contentOf(options, props).map((choice) => choiceBox(name, choice, typed.includes(choice.value)))}</fieldset>`,
  };
}

export function box<Props>({
  label,
  hint,
}: Required<Pick<About<Props>, 'label' | 'hint'>>): Field<boolean, boolean, Props> {
  const isTicked = (sent: readonly string[]) => sent.length > 0;
  return {
    label,
    isList: false,
    typed: isTicked,
    value: isTicked,
    show: ({ name, typed }, props) =>
      choiceBox(name, { value: 'yes', words: label, hint: contentOf(hint, props) }, typed),
  };
}

function choiceBox(name: string, { value, words, hint }: Choice, isTicked: boolean): Html {
  return html`<label class="choice"><input type="checkbox" name="${name}" value="${value}"${isTicked && html` checked`}>
<span>${words}<span class="hint">${hint}</span></span></label>`;
}

/** Creates a hidden input. The browser sends its value back unchanged. */
export function hiddenField(): TextField<unknown> {
  return {
    ...ONE,
    label: '',
    show: ({ name, typed }) => hiddenInput(name, typed),
  };
}

/** The path to which the server redirects after the sign-in or after another form. */
export const nextField = withNormalForm(hiddenField(), safeNext);

/** Creates a field for a value that a button or a script adds. The value is `undefined` if it was not sent. */
export function extraValue(label = ''): Field<undefined, string | undefined> {
  return { label, isList: false, typed: () => undefined, value: ([sent]) => sent, show: () => html`` };
}

/** Creates a field for the id of a form that may be submitted only once; see one-time-form.ts. */
export function formId(): Field<undefined, string, { readonly context: Pick<SignedInContext, 'token'> }> {
  return {
    label: '',
    isList: false,
    typed: () => undefined,
    value: (sent, context) => readFormId(context, firstOf(sent)),
    show: ({ name }, { context }) => hiddenInput(name, newFormId(context)),
  };
}

/** The fields of a form that has only a button and may be submitted only once. */
export const ONE_TIME_FORM = { formId: formId() };

/** Returns the field with a parser. The handler gets the parser's result in place of the text. */
export function withParser<Props, Value>(
  field: TextField<Props>,
  parse: (text: string, context: RequestContext) => Value,
): Field<string, Value, Props> {
  return { ...field, value: (sent, context) => parse(firstOf(sent), context) };
}

/**
 * Returns the field with a function that normalizes its text. Both the handler and the form that is shown again get the
 * normalized text.
 */
export function withNormalForm<Props>(field: TextField<Props>, normalize: (text: string) => string): TextField<Props> {
  const read = (sent: readonly string[]) => normalize(firstOf(sent));
  return { ...field, typed: read, value: read };
}

/** Returns midnight UTC of a day such as "2026-01-31", `undefined` if the text is empty, or `null` if the text is not a day. */
export function parseDay(text: string): Date | null | undefined {
  if (text === '') return undefined;
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime());
  return isDay && day.toISOString().startsWith(text) ? day : null;
}

/** The message for a text for which `parseMinute` returns no time. */
export const NOT_A_MINUTE = 'must be a time such as 2026-01-31T14:05.';

/**
 * Returns the time for a text in UTC such as "2026-01-31T14:05"; `undefined` if the text is empty, `null` if the text has another
 * form.
 */
export function parseMinute(text: string): Date | null | undefined {
  if (text === '') return undefined;
  const minute = new Date(`${text}:00.000Z`);
  const isMinute = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) && !Number.isNaN(minute.getTime());
  return isMinute && minute.toISOString().startsWith(text) ? minute : null;
}

type Unit = {
  readonly name: string;
  readonly ms: number;
  readonly parse: (text: string) => Date | null | undefined;
  /** The message for a text that `parse` refuses. */
  readonly refusal: string;
};

export const DAYS: Unit = {
  name: 'day',
  ms: DAY_MS,
  parse: parseDay,
  refusal: 'must be a day such as 2026-01-31.',
};
export const MINUTES: Unit = { name: 'time', ms: MINUTE_MS, parse: parseMinute, refusal: NOT_A_MINUTE };

/**
 * Parses the first and the last day or minute of a filter, both included. An empty text means that this side has no bound. Returns
 * a message for each text that is refused.
 */
export function parseSpan(
  texts: { readonly from: string; readonly to: string },
  { name, ms, parse, refusal }: Unit,
): { readonly span: TimeSpan; readonly errors: Record<string, readonly string[]> } {
  const [first, last] = [parse(texts.from), parse(texts.to)];
  const errors: Record<string, readonly string[]> = {};
  if (first === null) errors['from'] = [refusal];
  if (last === null) errors['to'] = [refusal];
  if (first instanceof Date && last instanceof Date && first > last)
    errors['to'] = [`must not be before the first ${name}.`];
  const to = last instanceof Date ? new Date(last.getTime() + ms) : null;
  return { span: { from: first ?? null, to }, errors };
}

/** Returns the field for a form that does not always contain it. The value is `undefined` if the field was not sent. */
export function optional<Typed, Value, Props>(
  field: Field<Typed, Value, Props>,
): Field<Typed, Value | undefined, Props> {
  return { ...field, value: (sent, context) => (sent.length === 0 ? undefined : field.value(sent, context)) };
}

/** Returns a version of the field that never shows the submitted text again. */
export function secret<Value, Props>(field: Field<string, Value, Props>): Field<undefined, Value, Props> {
  return { ...field, typed: () => undefined, show: (shown, props) => field.show({ ...shown, typed: '' }, props) };
}

type AboutPassword<Props> = Omit<AboutText<Props>, 'attributes'> & {
  readonly autocomplete: string;
  readonly isRequired?: Of<Props, boolean>;
};

export function password<Props>({
  autocomplete,
  isRequired = true,
  ...about
}: AboutPassword<Props>): Field<undefined, string, Props> {
  const attributes = (props: Props) =>
    html`autocomplete="${autocomplete}" maxlength="500"${contentOf(isRequired, props) && html` required`}`;
  return secret(text({ ...about, type: 'password', attributes }));
}

/** Creates the field for a code from an authenticator or a recovery code. */
export function secondFactorCode<Props>(
  about: Pick<AboutText<Props>, 'hasFocus'> & { readonly hint: string },
): Field<undefined, string, Props> {
  const attributes = html`class="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="40" required`;
  return secret(text({ ...about, label: 'Code', attributes }));
}

function contentOf<Props, Content>(content: Of<Props, Content>, props: Props): Content {
  return content instanceof Function ? content(props) : content;
}

type Labelled<Props> = { readonly shown: Omit<Shown<unknown>, 'typed'>; readonly props: Props };

/**
 * Returns the label, the hint, the error messages and the input. `input` renders the input with attributes that link it to the
 * hint and the messages.
 */
function fieldMarkup<Props>(
  { label, hint, attributes, isChosen = false }: AboutText<Props>,
  { shown: { name, messages }, props }: Labelled<Props>,
  input: (attributes: Html) => Html,
): Html {
  const words = hint === undefined ? '' : contentOf(hint, props);
  const described = [...(words === '' ? [] : [`${name}-hint`]), ...(messages.length === 0 ? [] : [`${name}-error`])];
  const own = attributes !== undefined && html` ${contentOf(attributes, props)}`;
  return html`<div class="field${isChosen && ' chosen'}">
<label for="${name}">${label}</label>
${words !== '' && html`<p class="hint" id="${name}-hint">${words}</p>`}
${errorLines({ name, label, messages })}${input(html`id="${name}" name="${name}"${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}${messages.length > 0 && html` aria-invalid="true"`}${own}`)}
</div>`;
}

type Errors = { readonly name: string; readonly label: string; readonly messages: readonly string[] };

function errorLines({ name, label, messages }: Errors): Html | false {
  const all = messages.map((message, i) => html`${i > 0 && html`<br>`}${label} ${message}`);
  return messages.length > 0 && html`<p class="field-error" id="${name}-error">${all}</p>`;
}
