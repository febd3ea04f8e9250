// Changes of objects, and of schemas composed of others.

import { objectOf } from '../../../scripts/contract-diff/json.ts';
import type { Json } from '../../../src/contract/document.ts';
import { append, type Case, drop, type Planted, remove, set, within } from '../../support/contract/planted.ts';

const SCHEMAS = 'components schemas';
const BODY = 'components schemas ParentProgramCreate';
const KEY_SCHEMA = 'components schemas Key';

const CHANGES = `${BODY} properties changes`;
const WHERE = 'POST /api/parent_programs, body, field changes[]';

/** The changes of a batch: an object for all actions, or one for each. */
const looseChanges = {
  type: 'array',
  'x-counts-as-requests': true,
  items: {
    type: 'object',
    required: ['action'],
    additionalProperties: false,
    properties: {
      action: { type: 'string', enum: ['create', 'delete'] },
      id: { type: 'string' },
      body: { type: 'object' },
    },
  },
};
const changeWith = (action: string, members: Json) => ({
  type: 'object',
  required: ['action', ...Object.keys(members)],
  additionalProperties: false,
  properties: { action: { type: 'string', const: action }, ...members },
});
const creation = changeWith('create', { body: { $ref: '#/components/schemas/ParentProgramCreate' } });
const deletion = changeWith('delete', { id: { type: 'string', format: 'uuid' } });

export const objectCases: readonly Case[] = [
  // Batches
  {
    title: 'a change of a batch that is described by its action',
    given: [set(CHANGES, looseChanges)],
    plants: [set(`${CHANGES} items`, { oneOf: [creation, deletion], discriminator: { propertyName: 'action' } })],
    found: [`additive: ${WHERE}: described more exactly; each one is validated by its own operation, as before`],
  },
  {
    title: 'an action and a member that are removed from the changes of a batch',
    given: [set(CHANGES, looseChanges)],
    plants: [set(`${CHANGES} items`, { oneOf: [deletion] })],
    found: [
      `additive: ${WHERE}: described more exactly; each one is validated by its own operation, as before`,
      `breaking (unannounced): ${WHERE}.body: removed`,
      `breaking: ${WHERE}.action: value "create" removed`,
      `breaking: ${WHERE}.id: now required`,
    ],
  },
  {
    title: 'an array whose items count as requests',
    given: [set(CHANGES, { type: 'array' })],
    plants: [set(`${CHANGES} x-counts-as-requests`, true)],
    found: ['words: POST /api/parent_programs, body, field changes: x-counts-as-requests changed'],
  },
  // Fields
  {
    title: 'a new optional field in a request',
    plants: [set(`${BODY} properties colour`, { type: 'string' })],
    found: ['additive: POST /api/parent_programs, body, field colour: new'],
  },
  {
    title: 'a new required field in a request',
    plants: [set(`${BODY} properties colour`, { type: 'string' }), append(`${BODY} required`, 'colour')],
    found: ['breaking: POST /api/parent_programs, body, field colour: new and required'],
  },
  {
    title: 'a new field in a response',
    plants: [set(`${KEY_SCHEMA} properties colour`, { type: 'string' })],
    found: ['additive: GET /api/key, response 200, field colour: new'],
  },
  {
    title: 'a new required field in a response',
    plants: [set(`${KEY_SCHEMA} properties colour`, { type: 'string' }), append(`${KEY_SCHEMA} required`, 'colour')],
    found: ['additive: GET /api/key, response 200, field colour: new and required'],
  },
  {
    title: 'a removed field of a request',
    plants: [remove(`${BODY} properties external_id`)],
    found: ['breaking (unannounced): POST /api/parent_programs, body, field external_id: removed'],
  },
  {
    title: 'a removed field of a response',
    plants: [remove(`${KEY_SCHEMA} properties name`), drop(`${KEY_SCHEMA} required`, 'name')],
    found: ['breaking (unannounced): GET /api/key, response 200, field name: removed'],
  },
  {
    title: 'a removed field of a response, deprecated before',
    given: [set(`${KEY_SCHEMA} properties name deprecated`, true)],
    plants: [remove(`${KEY_SCHEMA} properties name`), drop(`${KEY_SCHEMA} required`, 'name')],
    found: ['breaking: GET /api/key, response 200, field name: removed'],
  },
  {
    title: 'a request field that becomes required',
    plants: [append(`${BODY} required`, 'external_id')],
    found: ['breaking: POST /api/parent_programs, body, field external_id: now required'],
  },
  {
    title: 'a request field that becomes optional',
    plants: [set(`${BODY} required`, [])],
    found: ['additive: POST /api/parent_programs, body, field name: no longer required'],
  },
  {
    title: 'a response field that becomes optional',
    plants: [drop(`${KEY_SCHEMA} required`, 'expires_at')],
    found: ['breaking: GET /api/key, response 200, field expires_at: no longer required'],
  },
  {
    title: 'a response field that becomes required',
    given: [drop(`${KEY_SCHEMA} required`, 'expires_at')],
    plants: [append(`${KEY_SCHEMA} required`, 'expires_at')],
    found: ['additive: GET /api/key, response 200, field expires_at: now required'],
  },
  {
    title: 'a field that is deprecated',
    plants: [set(`${KEY_SCHEMA} properties name deprecated`, true)],
    found: ['additive: GET /api/key, response 200, field name: deprecated'],
  },
  {
    title: 'a field that is no longer deprecated',
    given: [set(`${KEY_SCHEMA} properties name deprecated`, true)],
    plants: [remove(`${KEY_SCHEMA} properties name deprecated`)],
    found: ['additive: GET /api/key, response 200, field name: no longer deprecated'],
  },
  {
    title: 'a request object that becomes closed',
    given: [remove(`${BODY} additionalProperties`)],
    plants: [set(`${BODY} additionalProperties`, false)],
    found: ['breaking: POST /api/parent_programs, body: additional fields are no longer allowed'],
  },
  {
    title: 'a request object that becomes open',
    plants: [remove(`${BODY} additionalProperties`)],
    found: ['additive: POST /api/parent_programs, body: additional fields are now allowed'],
  },
  {
    title: 'a response object that becomes closed',
    given: [remove(`${KEY_SCHEMA} additionalProperties`)],
    plants: [set(`${KEY_SCHEMA} additionalProperties`, false)],
    found: ['additive: GET /api/key, response 200: additional fields are no longer allowed'],
  },
  {
    title: 'a response object that becomes open',
    plants: [set(`${KEY_SCHEMA} additionalProperties`, { type: 'string' })],
    found: ['additive: GET /api/key, response 200: additional fields are now allowed'],
  },
  {
    title: 'a declared field in a free-form object',
    plants: [
      within(`${SCHEMAS} Metadata`, (old) => {
        const metadata = objectOf(old);
        return { ...metadata, properties: { region: metadata['additionalProperties'] } };
      }),
    ],
    found: [
      'additive: schema Metadata, field region (GET /api/parent_programs, response 200; POST /api/parent_programs, response 201; GET /api/parent_programs/{id}, response 200; PATCH /api/parent_programs/{id}, response 200): new',
      'breaking: POST /api/parent_programs, body, field metadata.region: new',
    ],
  },
  {
    title: 'fewer items in a response',
    plants: [set(`${SCHEMAS} ParentProgramPage properties data maxItems`, 50)],
    found: ['additive: GET /api/parent_programs, response 200, field data: maxItems changed from 100 to 50'],
  },
  // Composition
  {
    title: 'the same fields split into two schemas',
    plants: [inTwoParts(BODY)],
    found: ['words: The document: written differently, with the same meaning'],
  },
  {
    title: 'a new alternative in a request',
    plants: [within(`${BODY} properties name`, (old) => ({ anyOf: [old, { type: 'integer' }] }))],
    found: [
      'additive: POST /api/parent_programs, body, field name: type changed from string to integer or string',
      'words: POST /api/parent_programs, body, field name: description changed',
      'words: POST /api/parent_programs, body, field name: examples changed',
      'words: POST /api/parent_programs, body, field name: x-remedy changed',
    ],
  },
  {
    title: 'a new alternative of the same type in a request',
    given: [set(`${BODY} properties name`, pets('anyOf', 'Cat', 'Dog'))],
    plants: [set(`${BODY} properties name`, pets('anyOf', 'Dog', 'Bird', 'Cat'))],
    found: ['additive: POST /api/parent_programs, body, field name: new alternative object'],
  },
  {
    title: 'a new alternative of the same type in a response',
    given: [set(`${KEY_SCHEMA} properties name`, pets('oneOf', 'Cat', 'Dog'))],
    plants: [set(`${KEY_SCHEMA} properties name`, pets('oneOf', 'Dog', 'Bird', 'Cat'))],
    found: ['breaking: GET /api/key, response 200, field name: new alternative object'],
  },
  {
    title:
      'a new alternative in a response beside a new value of an extensible enumeration, whose objects clients ignore',
    given: [
      set(`${KEY_SCHEMA} properties name`, pets('oneOf', 'Cat', 'Dog')),
      set(`${KEY_SCHEMA} properties kind`, { type: 'string', enum: ['mammal'], 'x-extensible': true }),
    ],
    plants: [
      set(`${KEY_SCHEMA} properties name`, pets('oneOf', 'Dog', 'Bird', 'Cat')),
      append(`${KEY_SCHEMA} properties kind enum`, 'bird'),
    ],
    found: [
      'additive: GET /api/key, response 200, field kind: new value "bird"',
      'additive: GET /api/key, response 200, field name: new alternative object',
    ],
  },
  {
    title: 'a removed alternative in a request',
    given: [set(`${BODY} properties name`, pets('oneOf', 'Cat', 'Dog', 'Bird'))],
    plants: [set(`${BODY} properties name`, pets('oneOf', 'Bird', 'Cat'))],
    found: ['breaking: POST /api/parent_programs, body, field name: alternative object removed'],
  },
  {
    title: 'a removed alternative in a response',
    given: [set(`${KEY_SCHEMA} properties name`, pets('oneOf', 'Cat', 'Dog', 'Bird'))],
    plants: [set(`${KEY_SCHEMA} properties name`, pets('anyOf', 'Bird', 'Cat'))],
    found: ['additive: GET /api/key, response 200, field name: alternative object removed'],
  },
  {
    title: 'an alternative that may overlap with another',
    given: [
      set(`${BODY} properties name`, {
        oneOf: [
          { type: 'string', maxLength: 5 },
          { type: 'string', minLength: 6 },
        ],
      }),
    ],
    plants: [
      set(`${BODY} properties name`, {
        oneOf: [
          { type: 'string', maxLength: 9 },
          { type: 'string', minLength: 6 },
        ],
      }),
    ],
    found: [
      'additive: POST /api/parent_programs, body, field name: maxLength changed from 5 to 9',
      'breaking: POST /api/parent_programs, body, field name: oneOf that overlap changed from [{"type":"string","maxLength":5},{"type":"string","minLength":6}] to [{"type":"string","maxLength":9},{"type":"string","minLength":6}]',
    ],
  },
  {
    title: 'a keyword that no rule knows',
    plants: [set(`${BODY} properties name not`, { const: 'root' })],
    found: ['breaking: POST /api/parent_programs, body, field name: not changed from none to {"const":"root"}'],
  },
  {
    title: 'a change within a recursive schema',
    given: [
      set(`${KEY_SCHEMA} properties name`, { $ref: '#/components/schemas/Tree' }),
      set(`${SCHEMAS} Tree`, tree(10)),
    ],
    plants: [set(`${SCHEMAS} Tree`, tree(20))],
    found: ['breaking: GET /api/key, response 200, field name.label: maxLength changed from 10 to 20'],
  },
];

/** Alternatives of one type with a discriminating field. */
function pets(composition: 'anyOf' | 'oneOf', ...kinds: readonly string[]): Json {
  const pet = (kind: string) => ({ type: 'object', required: ['kind'], properties: { kind: { const: kind } } });
  return { [composition]: kinds.map(pet) };
}

function tree(maxLength: number): Json {
  const branches = { type: 'array', items: { $ref: '#/components/schemas/Tree' } };
  return { type: 'object', properties: { label: { type: 'string', maxLength }, branches } };
}

/** The same object as two schemas; the first closes the combined object. */
function inTwoParts(path: string): Planted {
  return within(path, (old) => {
    const { properties, required, additionalProperties, ...rest } = objectOf(old);
    const { name, ...others } = objectOf(properties);
    const anything = Object.fromEntries(Object.keys(others).map((field) => [field, true]));
    const first = { type: 'object', properties: { name, ...anything }, additionalProperties };
    return { ...rest, allOf: [first, { type: 'object', properties: others, required }] };
  });
}
