// Changes outside the operations: security, servers, component names and descriptions.
import type { Json } from '../../../src/contract/document.ts';
import {
  append,
  at,
  type Case,
  drop,
  remove,
  rename,
  replaceEach,
  set,
  within,
} from '../../support/contract/planted.ts';
import { contract } from './contract.ts';

const LIST = 'paths /api/parent_programs get';
const ONE = 'paths /api/parent_programs/{id}';
const KEY = 'paths /api/key get';
const SCHEMAS = 'components schemas';
const PARAMETERS = 'components parameters';
const RESPONSES = 'components responses';
const BODY = 'components schemas ParentProgramCreate';

const HOOK = 'webhooks parent_program.changed post';
const MESSAGE = `${HOOK} requestBody content application/json`;
const RECORD = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, note: { type: 'string' } },
};
const HEADER = { name: 'webhook-id', in: 'header', required: true, schema: { type: 'string' } };
const COLOUR = { name: 'colour', in: 'query', schema: { type: 'string' } };
const NAMELESS = [
  replaceEach({ $ref: '#/components/schemas/KeyOrganization' }, at(contract, `${SCHEMAS} KeyOrganization`)),
  remove(`${SCHEMAS} KeyOrganization`),
];

export const documentCases: readonly Case[] = [
  // Security
  {
    title: 'an operation that requires no key',
    plants: [set(`${KEY} security`, [])],
    found: ['breaking: GET /api/key: no longer requires a key'],
  },
  {
    title: 'an operation with an optional key',
    plants: [append(`${KEY} security`, {})],
    found: ['breaking: GET /api/key: no longer requires a key'],
  },
  {
    title: 'no key by default',
    given: [remove(`${KEY} security`)],
    plants: [remove('security')],
    found: ['breaking: GET /api/key: no longer requires a key'],
  },
  {
    title: 'an operation that now requires a key',
    given: [set(`${KEY} security`, [])],
    plants: [remove(`${KEY} security`)],
    found: ['breaking: GET /api/key: now requires a key'],
  },
  {
    title: 'the security of the document, written at the operation',
    given: [remove(`${KEY} security`)],
    plants: [set(`${KEY} security`, [{ apiKey: [] }])],
    found: ['words: The document: written differently, with the same meaning'],
  },
  {
    title: 'another permission',
    plants: [set(`${ONE} delete security`, [{ apiKey: ['parent_programs:delete'] }])],
    found: [
      'breaking: DELETE /api/parent_programs/{id}: requires parent_programs:delete instead of parent_programs:write',
    ],
  },
  {
    title: 'no permission needed',
    plants: [set(`${ONE} delete security`, [{ apiKey: [] }])],
    found: ['breaking: DELETE /api/parent_programs/{id}: requires no permission instead of parent_programs:write'],
  },
  {
    title: 'another way to authenticate',
    plants: [
      append(`${KEY} security`, { basic: [] }),
      set('components securitySchemes basic', { type: 'http', scheme: 'basic' }),
    ],
    found: ['additive: GET /api/key: also accepts basic', 'additive: security scheme basic: new'],
  },
  {
    title: 'a removed way to authenticate',
    given: [append(`${KEY} security`, { basic: [] })],
    plants: [set(`${KEY} security`, [{ apiKey: [] }])],
    found: ['breaking: GET /api/key: no longer accepts basic'],
  },
  {
    title: 'another scheme of the key',
    plants: [set('components securitySchemes apiKey scheme', 'basic')],
    found: ['breaking: security scheme apiKey: scheme changed from bearer to basic'],
  },
  {
    title: 'another description of the key',
    plants: [set('components securitySchemes apiKey bearerFormat', 'charter_...')],
    found: ['words: security scheme apiKey: bearerFormat changed'],
  },
  // Servers
  {
    title: 'another server',
    plants: [append('servers', { url: 'https://api.example.org' })],
    found: ['additive: The document: new server https://api.example.org'],
  },
  {
    title: 'a removed server',
    given: [append('servers', { url: 'https://api.example.org' })],
    plants: [drop('servers', { url: 'https://api.example.org' })],
    found: ['breaking: The document: server https://api.example.org removed'],
  },
  {
    title: 'another address of the server',
    plants: [set('servers 0 variables base_url default', 'https://api.example.org')],
    found: [
      'breaking: The document, server {base_url}, variable base_url: default changed from http://127.0.0.1:3000 to https://api.example.org',
    ],
  },
  {
    title: 'servers of an operation',
    plants: [set(`${KEY} servers`, [{ url: 'https://keys.example.org' }])],
    found: ['breaking: GET /api/key: servers changed from none to [{"url":"https://keys.example.org"}]'],
  },
  // Components
  {
    title: 'another name of a schema',
    plants: [
      rename(SCHEMAS, 'KeyOrganization', 'Organization'),
      replaceEach('#/components/schemas/KeyOrganization', '#/components/schemas/Organization'),
    ],
    found: ['breaking: The document: schema KeyOrganization renamed to schema Organization'],
  },
  {
    title: 'a schema without its name',
    plants: NAMELESS,
    found: ['breaking: The document: schema KeyOrganization removed'],
  },
  {
    title: 'a name for a schema',
    given: NAMELESS,
    plants: [within('', () => contract)],
    found: ['additive: schema KeyOrganization: new'],
  },
  {
    title: 'another name of a response',
    plants: [
      rename(RESPONSES, 'NotModified', 'Unchanged'),
      replaceEach('#/components/responses/NotModified', '#/components/responses/Unchanged'),
    ],
    found: ['breaking: The document: response NotModified renamed to response Unchanged'],
  },
  {
    title: 'a parameter without its name',
    plants: [
      replaceEach({ $ref: '#/components/parameters/IfMatch' }, at(contract, `${PARAMETERS} IfMatch`)),
      remove(`${PARAMETERS} IfMatch`),
    ],
    found: ['breaking: The document: parameter IfMatch removed'],
  },
  {
    title: 'another name of an example component',
    plants: [
      rename('components examples', 'KeyReadOnly', 'KeyForReading'),
      replaceEach('#/components/examples/KeyReadOnly', '#/components/examples/KeyForReading'),
    ],
    found: ['words: The document: written differently, with the same meaning'],
  },
  {
    title: 'a schema that nothing uses',
    given: [set(`${SCHEMAS} Spare`, { type: 'string', maxLength: 5 })],
    plants: [set(`${SCHEMAS} Spare maxLength`, 6)],
    found: [
      'additive: schema Spare: maxLength changed from 5 to 6',
      'breaking: schema Spare: maxLength changed from 5 to 6',
    ],
  },
  {
    title: 'a removed schema that nothing uses',
    given: [set(`${SCHEMAS} Spare`, { type: 'string', deprecated: true })],
    plants: [remove(`${SCHEMAS} Spare`)],
    found: ['breaking: The document: schema Spare removed'],
  },
  {
    title: 'a component of a kind that is not compared',
    given: [set('components links Next', { operationId: 'getKey' })],
    plants: [set('components links Next operationId', 'listParentPrograms')],
    found: ['breaking: link Next: content changed from ... to ...'],
  },
  // Webhooks: here the server sends the request, and the client the response
  {
    title: 'a new webhook',
    plants: [set('webhooks', webhook(['created']))],
    found: ['additive: webhook parent_program.changed: new'],
  },
  {
    title: 'a new event of a webhook',
    given: [set('webhooks', webhook(['created']))],
    plants: [set('webhooks', webhook(['created', 'deleted']))],
    found: ['breaking: webhook parent_program.changed, body: new value "deleted"'],
  },
  {
    title: 'a removed event of a webhook',
    given: [set('webhooks', webhook(['created', 'deleted']))],
    plants: [set('webhooks', webhook(['created']))],
    found: ['additive: webhook parent_program.changed, body: value "deleted" removed'],
  },
  {
    title: 'a removed webhook',
    given: [set('webhooks', webhook(['created']))],
    plants: [remove('webhooks parent_program.changed')],
    found: ['breaking (unannounced): webhook parent_program.changed: removed'],
  },
  {
    title: 'a removed webhook that was deprecated',
    given: [set('webhooks', webhook(['created'])), set(`${HOOK} deprecated`, true)],
    plants: [remove('webhooks')],
    found: ['breaking: webhook parent_program.changed: removed'],
  },
  {
    title: 'a new field of a webhook',
    given: [set('webhooks', webhook(['created'])), set(`${MESSAGE} schema`, RECORD)],
    plants: [set(`${MESSAGE} schema properties colour`, { type: 'string' })],
    found: [
      'additive: webhook parent_program.changed, body, field colour: new',
      'additive: webhook parent_program.changed, body, field colour: type changed from any to string',
    ],
  },
  {
    title: 'a removed field of a webhook',
    given: [set('webhooks', webhook(['created'])), set(`${MESSAGE} schema`, RECORD)],
    plants: [remove(`${MESSAGE} schema properties note`)],
    found: ['breaking (unannounced): webhook parent_program.changed, body, field note: removed'],
  },
  {
    title: 'a field of a webhook that may be missing',
    given: [set('webhooks', webhook(['created'])), set(`${MESSAGE} schema`, RECORD)],
    plants: [set(`${MESSAGE} schema required`, [])],
    found: ['breaking: webhook parent_program.changed, body, field name: no longer required'],
  },
  {
    title: 'another name of the function for a webhook',
    given: [set('webhooks', webhook(['created'])), set(`${HOOK} operationId`, 'onChange')],
    plants: [set(`${HOOK} operationId`, 'changed')],
    found: ['breaking: webhook parent_program.changed: operationId changed from onChange to changed'],
  },
  {
    title: 'a webhook with an additional header',
    given: [set('webhooks', webhook(['created'])), set(`${HOOK} parameters`, [])],
    plants: [append(`${HOOK} parameters`, HEADER)],
    found: ['additive: webhook parent_program.changed, parameter webhook-id: new and required'],
  },
  {
    title: 'a webhook with one header fewer',
    given: [set('webhooks', webhook(['created'])), set(`${HOOK} parameters`, [HEADER])],
    plants: [set(`${HOOK} parameters`, [])],
    found: ['breaking (unannounced): webhook parent_program.changed, parameter webhook-id: removed'],
  },
  {
    title: 'a webhook that gets a body',
    given: [set('webhooks', webhook(['created'])), remove(`${HOOK} requestBody`)],
    plants: [set(`${HOOK} requestBody`, { required: true, content: {} })],
    found: ['additive: webhook parent_program.changed, body: new and required'],
  },
  {
    title: 'a webhook that loses its body',
    given: [set('webhooks', webhook(['created']))],
    plants: [remove(`${HOOK} requestBody`)],
    found: ['breaking: webhook parent_program.changed, body: removed'],
  },
  {
    title: 'an additional status that a receiver may respond with',
    given: [set('webhooks', webhook(['created']))],
    plants: [
      set(`${HOOK} responses 2XX`, { description: 'Received.' }),
      set(`${HOOK} responses 410`, { description: 'Gone.' }),
    ],
    found: [
      'additive: webhook parent_program.changed, response 2XX: new',
      'additive: webhook parent_program.changed, response 410: new',
    ],
  },
  {
    title: 'one status fewer that a receiver may respond with',
    given: [set('webhooks', webhook(['created'])), set(`${HOOK} responses 410`, { description: 'Gone.' })],
    plants: [remove(`${HOOK} responses 410`)],
    found: ['breaking: webhook parent_program.changed, response 410: removed'],
  },
  {
    title: 'another summary of a webhook',
    given: [set('webhooks', webhook(['created']))],
    plants: [set('webhooks parent_program.changed summary', 'A change')],
    found: ['words: webhook parent_program.changed: summary changed'],
  },
  // Descriptions
  {
    title: 'another description of an operation',
    plants: [set(`${KEY} description`, 'Tells whose key it is.')],
    found: ['words: GET /api/key: description changed'],
  },
  {
    title: 'another description of a field',
    plants: [set(`${SCHEMAS} ParentProgram properties name description`, 'Its name.')],
    found: [
      'words: schema ParentProgram, field name (GET /api/parent_programs, response 200; POST /api/parent_programs, response 201; GET /api/parent_programs/{id}, response 200; PATCH /api/parent_programs/{id}, response 200): description changed',
    ],
  },
  {
    title: 'another remedy of a field',
    plants: [set(`${BODY} properties name x-remedy`, 'Give a name.')],
    found: ['words: POST /api/parent_programs, body, field name: x-remedy changed'],
  },
  {
    title: 'another tag of an operation, and another text of the document',
    plants: [
      set(`${KEY} tags`, ['Parent programs']),
      set('info description', 'Programs.'),
      set('tags 1 description', 'Keys.'),
    ],
    found: [
      'words: GET /api/key: tags changed',
      'words: The document: description changed',
      'words: The document: tags changed',
    ],
  },
  {
    title: 'another description of a path and of a response',
    plants: [set(`${ONE} summary`, 'One parent program'), set(`${RESPONSES} ConflictException description`, 'Taken.')],
    found: [
      'words: /api/parent_programs/{id}: summary changed',
      'words: response ConflictException (POST /api/parent_programs, response 409; PATCH /api/parent_programs/{id}, response 409): description changed',
    ],
  },
  {
    title: 'another patch version of OpenAPI',
    plants: [set('openapi', '3.1.1')],
    found: ['words: The document: OpenAPI changed from 3.1.0 to 3.1.1'],
  },
  {
    title: 'another minor version of OpenAPI',
    plants: [set('openapi', '3.2.0')],
    found: ['breaking: The document: OpenAPI changed from 3.1.0 to 3.2.0'],
  },
  {
    title: 'a field of the document that no rule knows',
    plants: [set('jsonSchemaDialect', 'https://example.org/dialect')],
    found: ['breaking: The document: jsonSchemaDialect changed from none to https://example.org/dialect'],
  },
  { title: 'only another version number', plants: [set('info version', '9.9.9')], found: [] },
  // Several changes at once
  {
    title: 'a description, an addition and a removal together',
    plants: [
      set(`${KEY} summary`, 'Get your key'),
      append(`${LIST} parameters`, COLOUR),
      remove(`${LIST} responses 200 headers Link`),
    ],
    found: [
      'additive: GET /api/parent_programs, parameter colour: new',
      'breaking (unannounced): GET /api/parent_programs, response 200, header Link: removed',
      'words: GET /api/key: summary changed',
    ],
  },
];

function webhook(events: readonly string[]): Json {
  const content = { 'application/json': { schema: { type: 'string', enum: events } } };
  return {
    'parent_program.changed': { post: { requestBody: { content }, responses: { '204': { description: 'Taken.' } } } },
  };
}
