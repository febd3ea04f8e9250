// What each change means for whoever has built on the last version: one table.
//
// Redocly's `diff` (2.77, experimental) rates a removed security requirement, a changed default, a removed example and a
// renamed component as a patch; api-smart-diff 1.0 calls removed security "non-breaking", and openapi-diff reads no 3.1.
// The verdict on the contract is what a release stands on, so it is ours.
//
// What a client sends ("request") may only grow, what it is answered ("response") may only shrink: the same change of a
// schema has two verdicts. Two exceptions, which the contract tells its readers: an answer may get new fields, and an
// operation new refusals (4xx, 5xx).

export type Verdict = 'breaking' | 'additive' | 'words';
export type Direction = 'request' | 'response';
export type Judgement = { readonly verdict: Verdict; readonly why: string };
export type Rule = Readonly<Record<Direction, Judgement>> & {
  /** With {name}, {before} and {after}. */
  readonly says: string;
  /** What it takes away can carry `deprecated`, and must have been published with it first. */
  readonly isAnnounced: boolean;
};

const ADDITIVE: Judgement = { verdict: 'additive', why: '' };
const WORDS: Judgement = { verdict: 'words', why: '' };
const breaking = (why: string): Judgement => ({ verdict: 'breaking', why });
const always = (says: string, judgement: Judgement) => byDirection(says, judgement, judgement);
const byDirection = (says: string, request: Judgement, response: Judgement): Rule => ({
  says,
  request,
  response,
  isAnnounced: false,
});
const announced = (rule: Rule): Rule => ({ ...rule, isAnnounced: true });

const REFUSED = breaking('A request that was taken until now is refused.');
const UNEXPECTED = breaking('An answer may hold what no client has been told to expect.');
const TYPE_NAME = breaking('Clients have a type of this name.');
const narrowed = (says: string) => byDirection(says, REFUSED, ADDITIVE);
const widened = (says: string) => byDirection(says, ADDITIVE, UNEXPECTED);

const change = '{name} {before} -> {after}';

export const RULES = {
  'words changed': always('{name} changed', WORDS),
  'writing changed': always('written in another way, with the same meaning', WORDS),
  'unknown changed': always(change, breaking('No rule knows this, so the worst is assumed.')),
  'specification changed': always(
    'OpenAPI {before} -> {after}',
    breaking('Tools that read the old OpenAPI may not read the new.'),
  ),
  'specification patched': always('OpenAPI {before} -> {after}', WORDS),

  'server added': always('new server {name}', ADDITIVE),
  'server removed': always('server {name} removed', breaking('Clients send their requests there.')),
  'server changed': always(change, breaking('Clients fill the address of the server with it.')),

  'component added': always('new {name}', ADDITIVE),
  'component removed': always('{name} removed', TYPE_NAME),
  'component renamed': always('{before} renamed to {after}', TYPE_NAME),

  'operation added': always('new', ADDITIVE),
  'operation removed': announced(always('removed', breaking('Every call of it fails.'))),
  'operationId added': always('new operationId {after}', ADDITIVE),
  'operationId changed': always('operationId {before} -> {after}', breaking('Clients name their functions after it.')),
  'deprecation added': always('deprecated', ADDITIVE),
  'deprecation removed': always('no longer deprecated', ADDITIVE),

  'security added': always('asks for a key now', breaking('Calls without a key get 401.')),
  'security removed': always(
    'asks for no key any more',
    breaking('What only the holder of a key could do, everybody can.'),
  ),
  'security way added': always('takes also {name}', ADDITIVE),
  'security way removed': always('no longer takes {name}', breaking('Clients that authenticate so get 401.')),
  'permission changed': always(
    'needs {after} instead of {before}',
    breaking('Keys were given out for other permissions: some can no longer do this, or suddenly can.'),
  ),
  'security scheme changed': always(change, breaking('Clients authenticate in the old way.')),

  'parameter added': always('new', ADDITIVE),
  'required parameter added': always('new and required', breaking('Requests without it get 422.')),
  'parameter removed': announced(always('removed', breaking('Requests that send it get 422.'))),
  'parameter moved': always('from {before} to {after}', breaking('Requests send it where it is no longer read.')),
  'serialization changed': always(change, breaking('Values are written into requests in another way.')),

  'body added': always('new', ADDITIVE),
  'required body added': always('new and required', breaking('Requests without it get 422.')),
  'body removed': always('removed', breaking('What clients send is no longer read.')),
  'requirement narrowed': byDirection('required: no -> yes', breaking('Requests without it get 422.'), ADDITIVE),
  'requirement widened': byDirection('required: yes -> no', ADDITIVE, breaking('Clients rely on getting it.')),

  'status added': always('new', ADDITIVE),
  'success added': always('new', breaking('Clients that know the other successes take it for none of them.')),
  'status removed': always('removed', breaking('Clients tell answers apart by it, and the mock is asked for it.')),
  'header added': always('new', ADDITIVE),
  'header removed': announced(always('removed', breaking('Clients read it.'))),
  'media type added': always('new media type {name}', ADDITIVE),
  'media type removed': always('media type {name} removed', breaking('Clients send it, or ask for it.')),
  'example added': byDirection('new example {name}', WORDS, ADDITIVE),
  'example removed': byDirection(
    'example {name} removed',
    WORDS,
    breaking('Who asks the mock for it (Prefer: example={name}) gets something else.'),
  ),

  'constraint narrowed': narrowed(change),
  'constraint widened': widened(change),
  'constraint changed': always(change, breaking('Nothing tells whether the new one takes what the old one took.')),
  'type changed': always(change, breaking('What fitted the old type does not fit the new.')),
  'value removed': narrowed('value {before} removed'),
  'value added': widened('new value {after}'),
  'default added': byDirection(
    'new default {after}',
    breaking('Requests that leave it out may mean something else now.'),
    ADDITIVE,
  ),
  'default changed': always(change, breaking('Whoever leaves it out, or fills it in, meant the old value.')),
  'access changed': always(change, breaking('Clients send it, or read it.')),
  'alternative removed': narrowed('alternative {name} removed'),
  'alternative added': widened('new alternative {name}'),

  'field added': always('new', ADDITIVE),
  'required field added': byDirection('new and required', breaking('Requests without it get 422.'), ADDITIVE),
  'free field claimed': byDirection(
    'new',
    breaking('Unnamed fields were taken: some requests send this one with a meaning of their own.'),
    ADDITIVE,
  ),
  'field removed': announced(always('removed', breaking('Clients send it, or read it.'))),
  'object closed': narrowed('unnamed fields: allowed -> refused'),
  'object opened': widened('unnamed fields: refused -> allowed'),
} satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;
