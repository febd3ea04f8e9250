// Changes of an operation's requests and responses.
import { append, type Case, drop, remove, rename, set } from '../../support/contract/planted.ts';

const LIST = 'paths /api/parent_programs get';
const CREATE = 'paths /api/parent_programs post';
const ONE = 'paths /api/parent_programs/{id}';
const KEY = 'paths /api/key get';
const PARAMETERS = 'components parameters';
const RESPONSES = 'components responses';
const HEADERS = 'components headers';
const JSON_BODY = 'content application/json';
const ACCEPT_PATCH = 'application/json, application/merge-patch+json';

const ID = { $ref: '#/components/parameters/ParentProgramId' };
const COLOUR = { name: 'colour', in: 'query', schema: { type: 'string' } };

export const operationCases: readonly Case[] = [
  // Parameters
  {
    title: 'a new parameter',
    plants: [append(`${LIST} parameters`, COLOUR)],
    found: ['additive: GET /api/parent_programs, parameter colour: new'],
  },
  {
    title: 'a new required parameter',
    plants: [append(`${LIST} parameters`, { ...COLOUR, required: true })],
    found: ['breaking: GET /api/parent_programs, parameter colour: new and required'],
  },
  {
    title: 'a removed parameter',
    plants: [drop(`${LIST} parameters`, { $ref: '#/components/parameters/Search' })],
    found: ['breaking (unannounced): GET /api/parent_programs, parameter search: removed'],
  },
  {
    title: 'a removed parameter, deprecated before',
    given: [set(`${PARAMETERS} Search deprecated`, true)],
    plants: [drop(`${LIST} parameters`, { $ref: '#/components/parameters/Search' }), remove(`${PARAMETERS} Search`)],
    found: [
      'breaking: GET /api/parent_programs, parameter search: removed',
      'breaking: The document: parameter Search removed',
    ],
  },
  {
    title: 'a parameter in another location',
    plants: [set(`${PARAMETERS} ExternalId in`, 'header')],
    found: ['breaking: GET /api/parent_programs, parameter external_id: moved from query to header'],
  },
  {
    title: 'a parameter that becomes required',
    plants: [set(`${PARAMETERS} IdempotencyKey required`, true)],
    found: ['breaking: POST /api/parent_programs, parameter Idempotency-Key: now required'],
  },
  {
    title: 'a parameter that becomes optional',
    given: [set(`${PARAMETERS} IdempotencyKey required`, true)],
    plants: [remove(`${PARAMETERS} IdempotencyKey required`)],
    found: ['additive: POST /api/parent_programs, parameter Idempotency-Key: no longer required'],
  },
  {
    title: 'another serialization of a parameter',
    plants: [set(`${PARAMETERS} Search explode`, false)],
    found: ['breaking: GET /api/parent_programs, parameter search: explode changed from true to false'],
  },
  {
    title: 'the default serialization of a parameter, made explicit',
    plants: [set(`${PARAMETERS} Search style`, 'form'), set(`${PARAMETERS} Search explode`, true)],
    found: ['words: The document: written differently, with the same meaning'],
  },
  {
    title: 'a parameter of every operation of a path',
    plants: [
      drop(`${ONE} get parameters`, ID),
      drop(`${ONE} patch parameters`, ID),
      drop(`${ONE} delete parameters`, ID),
      set(`${ONE} parameters`, [ID]),
    ],
    found: ['words: The document: written differently, with the same meaning'],
  },
  // Operations
  {
    title: 'a removed operation',
    plants: [remove(`${ONE} delete`)],
    found: ['breaking (unannounced): DELETE /api/parent_programs/{id}: removed'],
  },
  {
    title: 'a removed operation, deprecated before',
    given: [set(`${ONE} delete deprecated`, true)],
    plants: [remove(`${ONE} delete`)],
    found: ['breaking: DELETE /api/parent_programs/{id}: removed'],
  },
  {
    title: 'a new operation',
    plants: [set('paths /api/keys get', { operationId: 'listKeys', responses: {} })],
    found: ['additive: GET /api/keys: new'],
  },
  {
    title: 'an operation at another path',
    plants: [rename('paths', '/api/key', '/api/keys')],
    found: ['additive: GET /api/keys: new', 'breaking (unannounced): GET /api/key: removed'],
  },
  {
    title: 'another operationId',
    plants: [set(`${KEY} operationId`, 'readKey')],
    found: ['breaking: GET /api/key: operationId changed from getKey to readKey'],
  },
  {
    title: 'a first operationId',
    given: [remove(`${KEY} operationId`)],
    plants: [set(`${KEY} operationId`, 'readKey')],
    found: ['additive: GET /api/key: new operationId readKey'],
  },
  {
    title: 'an operation that is deprecated',
    plants: [set(`${KEY} deprecated`, true)],
    found: ['additive: GET /api/key: deprecated'],
  },
  // Bodies
  {
    title: 'a removed body',
    plants: [remove(`${CREATE} requestBody`)],
    found: ['breaking: POST /api/parent_programs, body: removed'],
  },
  {
    title: 'a new body',
    plants: [set(`${KEY} requestBody`, { content: { 'application/json': {} } })],
    found: ['additive: GET /api/key, body: new'],
  },
  {
    title: 'a new required body',
    plants: [set(`${KEY} requestBody`, { required: true, content: { 'application/json': {} } })],
    found: ['breaking: GET /api/key, body: new and required'],
  },
  {
    title: 'a body that becomes optional',
    plants: [set(`${CREATE} requestBody required`, false)],
    found: ['additive: POST /api/parent_programs, body: no longer required'],
  },
  {
    title: 'a body that becomes required',
    given: [remove(`${CREATE} requestBody required`)],
    plants: [set(`${CREATE} requestBody required`, true)],
    found: ['breaking: POST /api/parent_programs, body: now required'],
  },
  {
    title: 'an additional media type of a request',
    plants: [set(`${CREATE} requestBody content text/csv`, { schema: { type: 'string' } })],
    found: ['additive: POST /api/parent_programs, body: new media type text/csv'],
  },
  {
    title: 'a replaced media type',
    plants: [rename(`${KEY} responses 200 content`, 'application/json', 'application/cbor')],
    found: [
      'additive: GET /api/key, response 200: new media type application/cbor',
      'breaking: GET /api/key, response 200: media type application/json removed',
    ],
  },
  {
    title: 'another encoding of a part',
    plants: [set(`${CREATE} requestBody ${JSON_BODY} encoding`, { name: { contentType: 'text/plain' } })],
    found: [
      'breaking: POST /api/parent_programs, body: encoding changed from none to {"name":{"contentType":"text/plain"}}',
    ],
  },
  // Responses
  {
    title: 'a new refusal',
    plants: [set(`${KEY} responses 423`, { description: 'Locked.' })],
    found: ['additive: GET /api/key, response 423: new'],
  },
  {
    title: 'a new success',
    plants: [set(`${CREATE} responses 202`, { description: 'Later.' })],
    found: ['breaking: POST /api/parent_programs, response 202: new'],
  },
  {
    title: 'a new 304 response',
    plants: [set(`${KEY} responses 304`, { $ref: '#/components/responses/NotModified' })],
    found: ['additive: GET /api/key, response 304: new'],
  },
  {
    title: 'a removed refusal',
    plants: [remove(`${KEY} responses 503`)],
    found: ['breaking: GET /api/key, response 503: removed'],
  },
  {
    title: 'another success status',
    plants: [rename(`${CREATE} responses`, '201', '200')],
    found: [
      'breaking: POST /api/parent_programs, response 200: new',
      'breaking: POST /api/parent_programs, response 201: removed',
    ],
  },
  {
    title: 'a new header',
    plants: [set(`${KEY} responses 200 headers ETag`, { $ref: '#/components/headers/ETag' })],
    found: ['additive: GET /api/key, response 200, header ETag: new'],
  },
  {
    title: 'another media type that PATCH accepts',
    plants: [set(`${HEADERS} AcceptPatch schema const`, `${ACCEPT_PATCH}, application/json-patch+json`)],
    found: [
      'additive: PATCH /api/parent_programs/{id}, response 415, header Accept-Patch: new value "application/json-patch+json"',
    ],
  },
  {
    title: 'a media type that PATCH no longer accepts',
    plants: [set(`${HEADERS} AcceptPatch schema const`, 'application/json')],
    found: [
      'breaking: PATCH /api/parent_programs/{id}, response 415, header Accept-Patch: value "application/merge-patch+json" removed',
    ],
  },
  {
    title: 'a removed header',
    plants: [remove(`${LIST} responses 200 headers Link`)],
    found: ['breaking (unannounced): GET /api/parent_programs, response 200, header Link: removed'],
  },
  {
    title: 'a removed header, deprecated before',
    given: [set(`${LIST} responses 200 headers Link deprecated`, true)],
    plants: [remove(`${LIST} responses 200 headers Link`)],
    found: ['breaking: GET /api/parent_programs, response 200, header Link: removed'],
  },
  {
    title: 'a header that becomes optional',
    plants: [set(`${HEADERS} Location required`, false)],
    found: ['breaking: POST /api/parent_programs, response 201, header Location: no longer required'],
  },
  {
    title: 'a header that becomes required',
    plants: [set(`${LIST} responses 200 headers Link required`, true)],
    found: ['additive: GET /api/parent_programs, response 200, header Link: now required'],
  },
  {
    title: 'a longer header',
    plants: [set(`${HEADERS} ETag schema maxLength`, 256)],
    found: [
      'breaking: header ETag (GET /api/parent_programs, response 200; GET /api/parent_programs, response 304; POST /api/parent_programs, response 201; more): maxLength changed from 128 to 256',
    ],
  },
  // Examples
  {
    title: 'a removed example of a response',
    plants: [remove(`${RESPONSES} AuthenticationException ${JSON_BODY} examples expired_key`)],
    found: [
      'breaking: response AuthenticationException (GET /api/key, response 401; GET /api/parent_programs, response 401; POST /api/parent_programs, response 401; more): example expired_key removed',
    ],
  },
  {
    title: 'another name of an example',
    plants: [rename(`${LIST} responses 200 ${JSON_BODY} examples`, 'empty', 'none')],
    found: [
      'additive: GET /api/parent_programs, response 200: new example none',
      'breaking: GET /api/parent_programs, response 200: example empty removed',
    ],
  },
  {
    title: 'a removed example of a request',
    plants: [remove(`${CREATE} requestBody ${JSON_BODY} examples full`)],
    found: ['words: POST /api/parent_programs, body: example full removed'],
  },
  {
    title: 'a new example of a request',
    plants: [set(`${CREATE} requestBody ${JSON_BODY} examples named`, { value: { name: 'A' } })],
    found: ['words: POST /api/parent_programs, body: new example named'],
  },
  {
    title: 'another value of an example',
    plants: [set('components examples KeyReadOnly value name', 'Reports')],
    found: ['words: GET /api/key, response 200, example read_only: value changed'],
  },
  {
    title: 'another example of a parameter',
    plants: [remove(`${PARAMETERS} Sort examples by_name`)],
    found: ['words: GET /api/parent_programs, parameter sort: examples changed'],
  },
];
