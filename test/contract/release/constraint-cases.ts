// Changes of the constraints on a value.
import { append, type Case, drop, remove, set } from '../../support/contract/planted.ts';

const SCHEMAS = 'components schemas';
const PARAMETERS = 'components parameters';
const HEADERS = 'components headers';
const BODY = 'components schemas ParentProgramCreate';
const KEY_SCHEMA = 'components schemas Key';

export const constraintCases: readonly Case[] = [
  // Bounds
  {
    title: 'a lower maximum of a parameter',
    plants: [set(`${PARAMETERS} Limit schema maximum`, 50)],
    found: ['breaking: GET /api/parent_programs, parameter limit: maximum changed from 100 to 50'],
  },
  {
    title: 'a higher maximum of a parameter',
    plants: [set(`${PARAMETERS} Limit schema maximum`, 200)],
    found: ['additive: GET /api/parent_programs, parameter limit: maximum changed from 100 to 200'],
  },
  {
    title: 'a higher minimum of a parameter',
    plants: [set(`${PARAMETERS} Limit schema minimum`, 2)],
    found: ['breaking: GET /api/parent_programs, parameter limit: minimum changed from 1 to 2'],
  },
  {
    title: 'the minimum of a parameter removed',
    plants: [remove(`${PARAMETERS} Limit schema minimum`)],
    found: ['additive: GET /api/parent_programs, parameter limit: minimum changed from 1 to none'],
  },
  {
    title: 'a longer text in a response',
    plants: [set(`${KEY_SCHEMA} properties name maxLength`, 200)],
    found: ['breaking: GET /api/key, response 200, field name: maxLength changed from 100 to 200'],
  },
  {
    title: 'a shorter text in a response',
    plants: [set(`${KEY_SCHEMA} properties name maxLength`, 50)],
    found: ['additive: GET /api/key, response 200, field name: maxLength changed from 100 to 50'],
  },
  {
    title: 'more entries in requests and responses',
    plants: [set(`${SCHEMAS} Metadata maxProperties`, 60)],
    found: [
      'additive: POST /api/parent_programs, body, field metadata: maxProperties changed from 50 to 60',
      'breaking: schema Metadata (GET /api/parent_programs, response 200; POST /api/parent_programs, response 201; GET /api/parent_programs/{id}, response 200; PATCH /api/parent_programs/{id}, response 200): maxProperties changed from 50 to 60',
    ],
  },
  {
    title: 'longer names of entries in requests and responses',
    plants: [set(`${SCHEMAS} Metadata propertyNames maxLength`, 60)],
    found: [
      'additive: POST /api/parent_programs, body, field metadata (names): maxLength changed from 40 to 60',
      'breaking: schema Metadata, field (names) (GET /api/parent_programs, response 200; POST /api/parent_programs, response 201; GET /api/parent_programs/{id}, response 200; PATCH /api/parent_programs/{id}, response 200): maxLength changed from 40 to 60',
    ],
  },
  {
    title: 'a shorter entry in a request',
    plants: [set(`${SCHEMAS} ParentProgramUpdate properties metadata additionalProperties maxLength`, 400)],
    found: [
      'breaking: schema ParentProgramUpdate, field metadata.* (PATCH /api/parent_programs/{id}, body): maxLength changed from 500 to 400',
    ],
  },
  {
    title: 'a new minimum length in a request',
    plants: [set(`${BODY} properties description minLength`, 1)],
    found: ['breaking: POST /api/parent_programs, body, field description: minLength changed from none to 1'],
  },
  {
    title: 'an explicit minimum length of 0',
    plants: [set(`${BODY} properties description minLength`, 0)],
    found: ['words: The document: written differently, with the same meaning'],
  },
  {
    title: 'duplicate items allowed in a response',
    plants: [remove(`${KEY_SCHEMA} properties permissions uniqueItems`)],
    found: ['breaking: GET /api/key, response 200, field permissions: uniqueItems changed from true to none'],
  },
  {
    title: 'a number that must be a multiple',
    plants: [set(`${PARAMETERS} Limit schema multipleOf`, 5)],
    found: ['breaking: GET /api/parent_programs, parameter limit: multipleOf changed from none to 5'],
  },
  // Values
  {
    title: 'a new value of a parameter',
    plants: [append(`${PARAMETERS} Sort schema enum`, 'external_id')],
    found: ['additive: GET /api/parent_programs, parameter sort: new value "external_id"'],
  },
  {
    title: 'a removed value of a parameter',
    plants: [drop(`${PARAMETERS} Sort schema enum`, '-name')],
    found: ['breaking: GET /api/parent_programs, parameter sort: value "-name" removed'],
  },
  {
    title: 'a new value in a response',
    plants: [append(`${SCHEMAS} Permission enum`, 'parent_programs:delete')],
    found: ['breaking: GET /api/key, response 200, field permissions[]: new value "parent_programs:delete"'],
  },
  {
    title: 'an enumeration that announces new values',
    plants: [set(`${SCHEMAS} Permission x-extensible`, true)],
    found: ['additive: GET /api/key, response 200, field permissions[]: new values may follow'],
  },
  {
    title: 'a new value in a response that was not announced in an earlier version',
    plants: [
      set(`${SCHEMAS} Permission x-extensible`, true),
      append(`${SCHEMAS} Permission enum`, 'parent_programs:delete'),
    ],
    found: [
      'additive: GET /api/key, response 200, field permissions[]: new values may follow',
      'breaking: GET /api/key, response 200, field permissions[]: new value "parent_programs:delete"',
    ],
  },
  {
    title: 'an announced value in a response, and an array of them that is longer by it',
    given: [set(`${SCHEMAS} Permission x-extensible`, true)],
    plants: [
      append(`${SCHEMAS} Permission enum`, 'parent_programs:delete'),
      set(`${KEY_SCHEMA} properties permissions maxItems`, 3),
    ],
    found: [
      'additive: GET /api/key, response 200, field permissions: maxItems changed from 2 to 3',
      'additive: GET /api/key, response 200, field permissions[]: new value "parent_programs:delete"',
    ],
  },
  {
    title: 'a longer array whose new values were not announced',
    plants: [set(`${KEY_SCHEMA} properties permissions maxItems`, 3)],
    found: ['breaking: GET /api/key, response 200, field permissions: maxItems changed from 2 to 3'],
  },
  {
    title: 'an enumeration that no longer announces new values',
    given: [set(`${SCHEMAS} Permission x-extensible`, true)],
    plants: [remove(`${SCHEMAS} Permission x-extensible`)],
    found: ['additive: GET /api/key, response 200, field permissions[]: no new values follow'],
  },
  {
    title: 'a removed value in a response',
    plants: [drop(`${SCHEMAS} Permission enum`, 'parent_programs:write')],
    found: ['additive: GET /api/key, response 200, field permissions[]: value "parent_programs:write" removed'],
  },
  {
    title: 'any value allowed in a response',
    plants: [remove(`${SCHEMAS} Permission enum`)],
    found: [
      'breaking: GET /api/key, response 200, field permissions[]: values changed from "parent_programs:read", "parent_programs:write" to any',
    ],
  },
  {
    title: 'an enumeration for a free text in a request',
    plants: [set(`${BODY} properties name enum`, ['A', 'B'])],
    found: ['breaking: POST /api/parent_programs, body, field name: values changed from any to "A", "B"'],
  },
  {
    title: 'another constant of a header',
    plants: [set(`${HEADERS} CacheControlNoStore schema const`, 'no-store, private')],
    found: [
      'additive: header CacheControlNoStore (GET /api/key, response 200; GET /api/key, response 401; GET /api/key, response 503; more): value "no-store" removed',
      'breaking: header CacheControlNoStore (GET /api/key, response 200; GET /api/key, response 401; GET /api/key, response 503; more): new value "no-store, private"',
    ],
  },
  {
    title: 'a constant written as the only value',
    plants: [set(`${HEADERS} CacheControlNoStore schema`, { type: 'string', enum: ['no-store'] })],
    found: ['words: The document: written differently, with the same meaning'],
  },
  // Forms
  {
    title: 'another pattern in a request',
    plants: [set(`${BODY} properties name pattern`, '^[A-Z]')],
    found: [
      'breaking: POST /api/parent_programs, body, field name: pattern changed from ^\\s*[^\\s\\u0000\\uD800-\\uDFFF][^\\u0000\\uD800-\\uDFFF]*$ to ^[A-Z]',
    ],
  },
  {
    title: 'a pattern that is listed as written anew for other languages',
    plants: [set(`${BODY} properties name pattern`, '\\S')],
    found: [
      'additive: POST /api/parent_programs, body, field name: pattern changed from ^\\s*[^\\s\\u0000\\uD800-\\uDFFF][^\\u0000\\uD800-\\uDFFF]*$ to \\S, which allows the same values',
    ],
  },
  {
    title: 'a pattern spelled without escapes, in a response',
    given: [set(`${SCHEMAS} Page properties next_cursor pattern`, '^[\\x21-\\x7E]+\\d$')],
    plants: [set(`${SCHEMAS} Page properties next_cursor pattern`, '^[!-~]+[0-9]$')],
    found: [
      'additive: GET /api/parent_programs, response 200, field page.next_cursor: pattern changed from ^[\\x21-\\x7E]+\\d$ to ^[!-~]+[0-9]$, which allows the same values',
    ],
  },
  {
    title: 'the pattern removed from a request',
    plants: [remove(`${BODY} properties name pattern`)],
    found: [
      'additive: POST /api/parent_programs, body, field name: pattern changed from ^\\s*[^\\s\\u0000\\uD800-\\uDFFF][^\\u0000\\uD800-\\uDFFF]*$ to none',
    ],
  },
  {
    title: 'the pattern removed from a response',
    plants: [remove(`${SCHEMAS} Page properties next_cursor pattern`)],
    found: [
      'breaking: GET /api/parent_programs, response 200, field page.next_cursor: pattern changed from ^[A-Za-z0-9_-]+$ to none',
    ],
  },
  {
    title: 'a new format in a request',
    plants: [set(`${BODY} properties external_id format`, 'uuid')],
    found: ['breaking: POST /api/parent_programs, body, field external_id: format changed from none to uuid'],
  },
  {
    title: 'the format removed from a response',
    plants: [remove(`${KEY_SCHEMA} properties id format`)],
    found: ['breaking: GET /api/key, response 200, field id: format changed from uuid to none'],
  },
  // Types
  {
    title: 'null no longer accepted',
    plants: [set(`${BODY} properties description type`, 'string')],
    found: ['breaking: POST /api/parent_programs, body, field description: type changed from string or null to string'],
  },
  {
    title: 'null accepted',
    plants: [set(`${BODY} properties name type`, ['string', 'null'])],
    found: ['additive: POST /api/parent_programs, body, field name: type changed from string to string or null'],
  },
  {
    title: 'null allowed in a response',
    plants: [set(`${KEY_SCHEMA} properties name type`, ['string', 'null'])],
    found: ['breaking: GET /api/key, response 200, field name: type changed from string to string or null'],
  },
  {
    title: 'null removed from a response',
    plants: [set(`${KEY_SCHEMA} properties expires_at type`, 'string')],
    found: ['additive: GET /api/key, response 200, field expires_at: type changed from string or null to string'],
  },
  {
    title: 'any number in place of an integer in a request',
    plants: [set(`${PARAMETERS} Limit schema type`, 'number')],
    found: ['additive: GET /api/parent_programs, parameter limit: type changed from integer to number'],
  },
  {
    title: 'any number in place of an integer in a response',
    plants: [set(`${SCHEMAS} Page properties limit type`, 'number')],
    found: ['breaking: GET /api/parent_programs, response 200, field page.limit: type changed from integer to number'],
  },
  {
    title: 'another type',
    plants: [
      set(`${KEY_SCHEMA} properties id`, {
        type: 'integer',
        description: 'The ID of the key.',
      }),
    ],
    found: ['breaking: GET /api/key, response 200, field id: type changed from string to integer'],
  },
  {
    title: 'null written as an alternative',
    plants: [
      set(`${KEY_SCHEMA} properties name`, {
        description: 'The name of the key.',
        examples: ['Nightly sync'],
        anyOf: [{ type: 'string', minLength: 1, maxLength: 100 }, { type: 'null' }],
      }),
    ],
    given: [set(`${KEY_SCHEMA} properties name type`, ['null', 'string'])],
    found: ['words: The document: written differently, with the same meaning'],
  },
  // Defaults, readOnly and writeOnly
  {
    title: 'another default of a parameter',
    plants: [set(`${PARAMETERS} Limit schema default`, 10)],
    found: ['breaking: GET /api/parent_programs, parameter limit: default changed from 25 to 10'],
  },
  {
    title: 'the default of a parameter removed',
    plants: [remove(`${PARAMETERS} Sort schema default`)],
    found: ['breaking: GET /api/parent_programs, parameter sort: default changed from created_at to none'],
  },
  {
    title: 'a new default of a parameter',
    plants: [set(`${PARAMETERS} Search schema default`, 'program')],
    found: ['breaking: GET /api/parent_programs, parameter search: new default program'],
  },
  {
    title: 'a new default in a response',
    plants: [set(`${KEY_SCHEMA} properties name default`, 'Key')],
    found: ['additive: GET /api/key, response 200, field name: new default Key'],
  },
  {
    title: 'a field that becomes read-only',
    plants: [set(`${BODY} properties external_id readOnly`, true)],
    found: ['breaking: POST /api/parent_programs, body, field external_id: readOnly changed from none to true'],
  },
];
