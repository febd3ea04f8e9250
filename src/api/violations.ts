import type { ErrorObject } from 'ajv';
import { DomainError } from '../domain/errors.ts';
import { clip, MAX_MESSAGE } from './clip.ts';

// From what Ajv found to what a person can act on: the field by its own name, and the remedy.

/** The contract bounds what an answer holds: fields, messages a field, characters a name. */
const MAX_FIELDS = 100;
const MAX_MESSAGES = 10;
const MAX_NAME = 255;

/** What an operation takes, for messages; header names as the contract spells them, by their lower-case form. */
export type Vocabulary = { queryNames: readonly string[]; headerNames: ReadonlyMap<string, string> };

export class Violations {
  readonly #fields = new Map<string, string[]>();

  add(field: string, message: string): void {
    const name = clip(field, MAX_NAME) || '(no name)';
    if (!this.#fields.has(name) && this.#fields.size >= MAX_FIELDS) return;
    const messages = this.#fields.get(name) ?? [];
    if (messages.length < MAX_MESSAGES && !messages.includes(message)) messages.push(clip(message, MAX_MESSAGE));
    this.#fields.set(name, messages);
  }

  addAll(errors: readonly ErrorObject[], vocabulary: Vocabulary): void {
    for (const error of errors) {
      // The failing key itself is reported by the errors within.
      if (error.keyword !== 'propertyNames') this.add(fieldOf(error, vocabulary), messageOf(error, vocabulary));
    }
  }

  throwIfAny(): void {
    const [first] = this.#fields;
    if (first === undefined) return;
    const more = this.#fields.size === 1 ? '' : ` ${this.#fields.size - 1} more in errors.`;
    const message = `${first[0]} ${first[1][0] ?? 'is not valid.'}${more}`;
    throw new DomainError('invalid', message, Object.fromEntries(this.#fields));
  }
}

function fieldOf({ instancePath, params, propertyName }: ErrorObject, { headerNames }: Vocabulary): string {
  const [location, ...path] = instancePath.slice(1).split('/').map(unescapePointer);
  const member = params['additionalProperty'] ?? params['missingProperty'] ?? propertyName;
  if (member !== undefined && !(location === '' && member === 'requestBody')) path.push(String(member));
  const name = path.join('.');
  if (location === 'header') return headerNames.get(name) ?? name;
  return name === '' && location !== 'query' ? 'body' : name;
}

function unescapePointer(text: string): string {
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function messageOf(error: ErrorObject, { queryNames }: Vocabulary): string {
  const { keyword, params, data, parentSchema = {}, propertyName, instancePath } = error;
  const subject = propertyName === undefined ? '' : 'has a name that ';
  const text = propertyName ?? data;
  switch (keyword) {
    case 'required':
      return 'is required.';
    case 'additionalProperties': {
      if (instancePath === '/query')
        return `is not a parameter of this operation. It takes: ${queryNames.join(', ') || 'none'}.`;
      return `is not a field of this request. It takes: ${Object.keys(parentSchema['properties'] ?? {}).join(', ')}.`;
    }
    case 'maxLength':
    case 'minLength': {
      const bound = keyword === 'maxLength' ? 'at most' : 'at least';
      return `${subject}must be ${bound} ${params['limit']} characters long; it has ${[...String(text)].length}.`;
    }
    case 'maxProperties':
      return `must have at most ${params['limit']} entries; it has ${Object.keys(Object(data)).length}.`;
    case 'enum':
      return `must be one of: ${params['allowedValues'].join(', ')}.`;
    case 'pattern':
    case 'format':
      return `${subject}is not valid. ${parentSchema['x-remedy'] ?? `It must be a valid ${params['format'] ?? params['pattern']}.`}`;
    case 'type':
    case 'minimum':
    case 'maximum':
      return `must be ${describe(parentSchema)}.`;
    default:
      return `${subject}${error.message ?? 'is not valid'}.`;
  }
}

const NOUNS: Record<string, string> = {
  integer: 'an integer',
  string: 'a string',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function describe(schema: Record<string, unknown>): string {
  const kinds = [schema['type']].flat().map((type) => NOUNS[String(type)] ?? String(type));
  const { minimum, maximum } = schema;
  const range = minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
  return `${kinds.join(' or ')}${range}`;
}
