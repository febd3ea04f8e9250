// The contract of the release tests, and the changes that `changes.txt` cannot express, because their values are computed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { objectOf } from '../../../scripts/contract-diff/json.ts';
import type { Json } from '../../../src/contract/document.ts';
import {
  append,
  at,
  type Case,
  type Planted,
  remove,
  replaceEach,
  set,
  within,
} from '../../support/contract/planted.ts';

/**
 * The contract to which the tests make changes. It is separate from the real contract, so that changes of the real contract do
 * not break the tests.
 */
export const contract: Json = JSON.parse(readFileSync(join(import.meta.dirname, 'contract.json'), 'utf8'));

const SCHEMAS = 'components schemas';
const BODY = 'components schemas ParentProgramCreate';
const KEY_SCHEMA = 'components schemas Key';

const CHANGES = `${BODY} properties changes`;
const WHERE = 'POST /api/parent_programs, body, field changes[]';

/** The changes of a batch, described by one schema for all actions. */
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
const NAMELESS = [
  replaceEach({ $ref: '#/components/schemas/KeyOrganization' }, at(contract, `${SCHEMAS} KeyOrganization`)),
  remove(`${SCHEMAS} KeyOrganization`),
];

export const composedCases: readonly Case[] = [
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
    title: 'a name for a schema',
    given: NAMELESS,
    plants: [within('', () => contract)],
    found: ['additive: schema KeyOrganization: new'],
  },
];

/** Returns a schema with alternatives that have the same type and a discriminating field. */
function pets(composition: 'anyOf' | 'oneOf', ...kinds: readonly string[]): Json {
  const pet = (kind: string) => ({ type: 'object', required: ['kind'], properties: { kind: { const: kind } } });
  return { [composition]: kinds.map(pet) };
}

/** Splits the object schema into two schemas. The first schema forbids other properties in the combined object. */
function inTwoParts(path: string): Planted {
  return within(path, (old) => {
    const { properties, required, additionalProperties, ...rest } = objectOf(old);
    const { name, ...others } = objectOf(properties);
    const anything = Object.fromEntries(Object.keys(others).map((field) => [field, true]));
    const first = { type: 'object', properties: { name, ...anything }, additionalProperties };
    return { ...rest, allOf: [first, { type: 'object', properties: others, required }] };
  });
}
