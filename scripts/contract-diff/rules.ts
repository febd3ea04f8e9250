// The table of all kinds of changes: whether each breaks clients that were built for the last version.
//
// The version of a release depends on these verdicts, and no tool was found to be strict enough. Redocly's `diff` (2.77,
// experimental) rates a removed security requirement, a changed default, a removed example and a renamed component as a patch.
// api-smart-diff 1.0 calls removed security "non-breaking". openapi-diff does not read OpenAPI 3.1.
//
// Requests may only become wider and responses only narrower, so a change of a schema has one verdict for each direction. The
// request that delivers a webhook counts as a response, and the receiver's response as a request. The contract announces three
// exceptions: responses may get new fields; operations may get new errors (4xx, 5xx); and enumerations that are marked with
// `x-extensible` may get new values, which may come with other contents of the same object, such as `data` of a new type of
// event. The `Allow` header of a 405 lists the operations of a path, so each new operation makes the header longer.

export type Verdict = 'breaking' | 'additive' | 'words';
export type Direction = 'request' | 'response';
type Judgement = { readonly verdict: Verdict; readonly why: string };
export type Rule = Readonly<Record<Direction, Judgement>> & {
  /** The description of the change: a template with {name}, {before} and {after}. */
  readonly says: string;
  /** Whether the change removes something that must have been published as `deprecated` before. */
  readonly needsDeprecation: boolean;
};

const ADDITIVE: Judgement = { verdict: 'additive', why: '' };
const WORDS: Judgement = { verdict: 'words', why: '' };
const breaking = (why: string): Judgement => ({ verdict: 'breaking', why });
const always = (says: string, judgement: Judgement) => byDirection(says, judgement, judgement);
const byDirection = (says: string, request: Judgement, response: Judgement): Rule => ({
  says,
  request,
  response,
  needsDeprecation: false,
});
const afterDeprecation = (rule: Rule): Rule => ({ ...rule, needsDeprecation: true });

const REFUSED = breaking('Requests that were valid are now refused.');
const UNEXPECTED = breaking('Responses may contain values that clients do not expect.');
const TYPE_NAME = breaking('Clients may have a type of this name.');
const whenNarrower = (says: string) => byDirection(says, REFUSED, ADDITIVE);
const whenWider = (says: string) => byDirection(says, ADDITIVE, UNEXPECTED);

const change = '{name} changed from {before} to {after}';

export const RULES = {
  'words changed': always('{name} changed', WORDS),
  'writing changed': always('written differently, with the same meaning', WORDS),
  'unknown changed': always(change, breaking('There is no rule for this change, so it counts as breaking.')),
  'specification changed': always(
    'OpenAPI changed from {before} to {after}',
    breaking('Tools for the old version of OpenAPI may not read the new one.'),
  ),
  'specification patched': always('OpenAPI changed from {before} to {after}', WORDS),

  'server added': always('new server {name}', ADDITIVE),
  'server removed': always('server {name} removed', breaking('Clients send requests to it.')),
  'server changed': always(change, breaking('Clients build the address of the server from it.')),

  'component added': always('new', ADDITIVE),
  'component removed': always('{name} removed', TYPE_NAME),
  'component renamed': always('{before} renamed to {after}', TYPE_NAME),

  'operation added': always('new', ADDITIVE),
  'operation removed': afterDeprecation(
    byDirection('removed', breaking('Every call fails.'), breaking('Receivers wait for it in vain.')),
  ),
  'operationId added': always('new operationId {after}', ADDITIVE),
  'operationId changed': always(
    'operationId changed from {before} to {after}',
    breaking('Clients name their functions after it.'),
  ),
  'deprecation added': always('deprecated', ADDITIVE),
  'deprecation removed': always('no longer deprecated', ADDITIVE),

  'security added': always('now requires a key', breaking('Calls without a key get 401.')),
  'security removed': always('no longer requires a key', breaking('Everybody can do what required a key before.')),
  'security way added': always('also accepts {name}', ADDITIVE),
  'security way removed': always('no longer accepts {name}', breaking('Clients that authenticate with it get 401.')),
  'permission changed': always(
    'requires {after} instead of {before}',
    breaking('Existing keys have other permissions: some can no longer do this, and others now can.'),
  ),
  'security scheme changed': always(change, breaking('Clients authenticate the old way.')),

  'parameter added': always('new', ADDITIVE),
  'required parameter added': byDirection('new and required', breaking('Requests without it get 422.'), ADDITIVE),
  'parameter removed': afterDeprecation(
    byDirection('removed', breaking('Requests that send it get 422.'), breaking('Receivers read it.')),
  ),
  'parameter moved': always('moved from {before} to {after}', breaking('Clients send it where it is no longer read.')),
  'serialization changed': always(change, breaking('Clients write its value into requests differently.')),

  'body added': always('new', ADDITIVE),
  'required body added': byDirection('new and required', breaking('Requests without it get 422.'), ADDITIVE),
  'body removed': byDirection(
    'removed',
    breaking('The body that clients send is no longer read.'),
    breaking('Receivers read it.'),
  ),
  'requirement narrowed': byDirection('now required', breaking('Requests without it get 422.'), ADDITIVE),
  'requirement widened': byDirection('no longer required', ADDITIVE, breaking('Clients rely on it.')),

  'status added': always('new', ADDITIVE),
  'success added': byDirection('new', ADDITIVE, breaking('Clients do not recognize it as a success.')),
  'status removed': byDirection(
    'removed',
    breaking('Receivers respond with it.'),
    breaking('Clients distinguish responses by it, and request it from the mock.'),
  ),
  'header added': always('new', ADDITIVE),
  'header removed': afterDeprecation(always('removed', breaking('Clients read it.'))),
  'methods changed': always('lists other methods, as the operations of the path do', ADDITIVE),
  'media type added': always('new media type {name}', ADDITIVE),
  'media type removed': always('media type {name} removed', breaking('Clients send it or request it.')),
  'example added': byDirection('new example {name}', WORDS, ADDITIVE),
  'example removed': byDirection(
    'example {name} removed',
    WORDS,
    breaking('Clients that request it from the mock (Prefer: example={name}) get an error.'),
  ),

  'constraint narrowed': whenNarrower(change),
  'constraint widened': whenWider(change),
  'constraint changed': always(
    change,
    breaking('It cannot be told whether the new one allows all that the old one did.'),
  ),
  'pattern respelled': always(`${change}, which allows the same values`, ADDITIVE),
  'type changed': always(change, breaking('Values of the old type are not of the new type.')),
  'value removed': whenNarrower('value {before} removed'),
  'value added': whenWider('new value {after}'),
  'extensible value added': always('new value {after}', ADDITIVE),
  'extensible items added': always(change, ADDITIVE),
  'enumeration opened': always('new values may follow', ADDITIVE),
  'enumeration closed': always('no new values follow', ADDITIVE),
  'default added': byDirection(
    'new default {after}',
    breaking('Requests without it may now mean something else.'),
    ADDITIVE,
  ),
  'default changed': always(change, breaking('Clients that leave it out mean the old value.')),
  'access changed': always(change, breaking('Clients send it or read it.')),
  'alternative removed': whenNarrower('alternative {name} removed'),
  'alternative added': whenWider('new alternative {name}'),
  'alternative of new values added': always('new alternative {name}', ADDITIVE),

  'changes described': always(
    'described more exactly; each one is validated by its own operation, as before',
    ADDITIVE,
  ),

  'field added': always('new', ADDITIVE),
  'required field added': byDirection('new and required', breaking('Requests without it get 422.'), ADDITIVE),
  'free field claimed': byDirection(
    'new',
    breaking('Additional fields were allowed: some requests may contain this one with another meaning.'),
    ADDITIVE,
  ),
  'field removed': afterDeprecation(always('removed', breaking('Clients send it or read it.'))),
  'object closed': whenNarrower('additional fields are no longer allowed'),
  'object opened': always('additional fields are now allowed', ADDITIVE),
} satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;
