// Changes of objects, and of schemas that are made of others.

import { objectOf } from '../../../scripts/contract-diff/json.ts';
import type { Json } from '../../../src/api/document.ts';
import { append, type Case, drop, type Planted, remove, set, within } from '../../support/planted.ts';

const SCHEMAS = 'components schemas';
const BODY = 'components schemas ParentProgramCreate';
const ANSWER = 'components schemas Key';

export const objectCases: readonly Case[] = [
  // Fields
  {
    title: 'a new field that may be sent',
    plants: [set(`${BODY} properties colour`, { type: 'string' })],
    found: ['additive: POST /api/parent_programs, body, field colour: new'],
  },
  {
    title: 'a new field that must be sent',
    plants: [set(`${BODY} properties colour`, { type: 'string' }), append(`${BODY} required`, 'colour')],
    found: ['breaking: POST /api/parent_programs, body, field colour: new and required'],
  },
  {
    title: 'a new field in an answer',
    plants: [set(`${ANSWER} properties colour`, { type: 'string' })],
    found: ['additive: GET /api/key, response 200, field colour: new'],
  },
  {
    title: 'a new field that is always in an answer',
    plants: [set(`${ANSWER} properties colour`, { type: 'string' }), append(`${ANSWER} required`, 'colour')],
    found: ['additive: GET /api/key, response 200, field colour: new and required'],
  },
  {
    title: 'a field that can no longer be sent',
    plants: [remove(`${BODY} properties external_id`)],
    found: ['breaking (unannounced): POST /api/parent_programs, body, field external_id: removed'],
  },
  {
    title: 'a field less in an answer',
    plants: [remove(`${ANSWER} properties name`), drop(`${ANSWER} required`, 'name')],
    found: ['breaking (unannounced): GET /api/key, response 200, field name: removed'],
  },
  {
    title: 'a field less in an answer, deprecated before',
    given: [set(`${ANSWER} properties name deprecated`, true)],
    plants: [remove(`${ANSWER} properties name`), drop(`${ANSWER} required`, 'name')],
    found: ['breaking: GET /api/key, response 200, field name: removed'],
  },
  {
    title: 'a field that must be sent now',
    plants: [append(`${BODY} required`, 'external_id')],
    found: ['breaking: POST /api/parent_programs, body, field external_id: required: no -> yes'],
  },
  {
    title: 'a field that need not be sent any more',
    plants: [set(`${BODY} required`, [])],
    found: ['additive: POST /api/parent_programs, body, field name: required: yes -> no'],
  },
  {
    title: 'a field that is no longer always answered',
    plants: [drop(`${ANSWER} required`, 'expires_at')],
    found: ['breaking: GET /api/key, response 200, field expires_at: required: yes -> no'],
  },
  {
    title: 'a field that is always answered now',
    given: [drop(`${ANSWER} required`, 'expires_at')],
    plants: [append(`${ANSWER} required`, 'expires_at')],
    found: ['additive: GET /api/key, response 200, field expires_at: required: no -> yes'],
  },
  {
    title: 'a field that is deprecated',
    plants: [set(`${ANSWER} properties name deprecated`, true)],
    found: ['additive: GET /api/key, response 200, field name: deprecated'],
  },
  {
    title: 'a field that is no longer deprecated',
    given: [set(`${ANSWER} properties name deprecated`, true)],
    plants: [remove(`${ANSWER} properties name deprecated`)],
    found: ['additive: GET /api/key, response 200, field name: no longer deprecated'],
  },
  {
    title: 'a closed object that is sent',
    given: [remove(`${BODY} additionalProperties`)],
    plants: [set(`${BODY} additionalProperties`, false)],
    found: ['breaking: POST /api/parent_programs, body: additional fields: allowed -> refused'],
  },
  {
    title: 'an opened object that is sent',
    plants: [remove(`${BODY} additionalProperties`)],
    found: ['additive: POST /api/parent_programs, body: additional fields: refused -> allowed'],
  },
  {
    title: 'a closed object that is answered',
    given: [remove(`${ANSWER} additionalProperties`)],
    plants: [set(`${ANSWER} additionalProperties`, false)],
    found: ['additive: GET /api/key, response 200: additional fields: allowed -> refused'],
  },
  {
    title: 'an opened object that is answered',
    plants: [set(`${ANSWER} additionalProperties`, { type: 'string' })],
    found: ['breaking: GET /api/key, response 200: additional fields: refused -> allowed'],
  },
  {
    title: 'a name of its own for an entry of a free object',
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
    title: 'fewer items in an answer',
    plants: [set(`${SCHEMAS} ParentProgramPage properties data maxItems`, 50)],
    found: ['additive: GET /api/parent_programs, response 200, field data: maxItems 100 -> 50'],
  },
  // Composition
  {
    title: 'the same fields as two parts',
    plants: [inTwoParts(BODY)],
    found: ['words: The document: written differently, with the same meaning'],
  },
  {
    title: 'a new alternative of what is sent',
    plants: [within(`${BODY} properties name`, (old) => ({ anyOf: [old, { type: 'integer' }] }))],
    found: [
      'additive: POST /api/parent_programs, body, field name: type string -> integer or string',
      'words: POST /api/parent_programs, body, field name: description changed',
      'words: POST /api/parent_programs, body, field name: examples changed',
      'words: POST /api/parent_programs, body, field name: x-remedy changed',
    ],
  },
  {
    title: 'a new alternative of one type, sent',
    given: [set(`${BODY} properties name`, pets('anyOf', 'Cat', 'Dog'))],
    plants: [set(`${BODY} properties name`, pets('anyOf', 'Dog', 'Bird', 'Cat'))],
    found: ['additive: POST /api/parent_programs, body, field name: new alternative object'],
  },
  {
    title: 'a new alternative of one type, answered',
    given: [set(`${ANSWER} properties name`, pets('oneOf', 'Cat', 'Dog'))],
    plants: [set(`${ANSWER} properties name`, pets('oneOf', 'Dog', 'Bird', 'Cat'))],
    found: ['breaking: GET /api/key, response 200, field name: new alternative object'],
  },
  {
    title: 'an alternative less, sent',
    given: [set(`${BODY} properties name`, pets('oneOf', 'Cat', 'Dog', 'Bird'))],
    plants: [set(`${BODY} properties name`, pets('oneOf', 'Bird', 'Cat'))],
    found: ['breaking: POST /api/parent_programs, body, field name: alternative object removed'],
  },
  {
    title: 'an alternative less, answered',
    given: [set(`${ANSWER} properties name`, pets('oneOf', 'Cat', 'Dog', 'Bird'))],
    plants: [set(`${ANSWER} properties name`, pets('anyOf', 'Bird', 'Cat'))],
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
      'additive: POST /api/parent_programs, body, field name: maxLength 5 -> 9',
      'breaking: POST /api/parent_programs, body, field name: oneOf that overlap [{"type":"string","maxLength":5},{"type":"string","minLength":6}] -> [{"type":"string","maxLength":9},{"type":"string","minLength":6}]',
    ],
  },
  {
    title: 'a keyword that no rule knows',
    plants: [set(`${BODY} properties name not`, { const: 'root' })],
    found: ['breaking: POST /api/parent_programs, body, field name: not none -> {"const":"root"}'],
  },
  {
    title: 'a change within a schema that holds itself',
    given: [set(`${ANSWER} properties name`, { $ref: '#/components/schemas/Tree' }), set(`${SCHEMAS} Tree`, tree(10))],
    plants: [set(`${SCHEMAS} Tree`, tree(20))],
    found: ['breaking: GET /api/key, response 200, field name.label: maxLength 10 -> 20'],
  },
];

/** Alternatives of one type that a field tells apart. */
function pets(composition: 'anyOf' | 'oneOf', ...kinds: readonly string[]): Json {
  const pet = (kind: string) => ({ type: 'object', required: ['kind'], properties: { kind: { const: kind } } });
  return { [composition]: kinds.map(pet) };
}

function tree(maxLength: number): Json {
  const branches = { type: 'array', items: { $ref: '#/components/schemas/Tree' } };
  return { type: 'object', properties: { label: { type: 'string', maxLength }, branches } };
}

/** The same object as two, of which the first closes what both describe. */
function inTwoParts(path: string): Planted {
  return within(path, (old) => {
    const { properties, required, additionalProperties, ...rest } = objectOf(old);
    const { name, ...others } = objectOf(properties);
    const anything = Object.fromEntries(Object.keys(others).map((field) => [field, true]));
    const first = { type: 'object', properties: { name, ...anything }, additionalProperties };
    return { ...rest, allOf: [first, { type: 'object', properties: others, required }] };
  });
}
