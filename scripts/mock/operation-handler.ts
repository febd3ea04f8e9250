import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { HandlerInput, OperationHandler } from '../../src/api/operation.ts';
import { isObject, type Json, type Operation, type Schema } from '../../src/contract/document.ts';
import { collectionOf, findItem } from './collection.ts';
import { compileLater } from './compile.ts';
import type { DataSet } from './data-set.ts';
import { schemaOf, successOf } from './declared-responses.ts';
import { isTagFor, refuseStale, statelessTagOf } from './entity-tags.ts';
import { canonicalId, idIn, pathOf, resultOf } from './handler-result.ts';
import { linkTo, pageOf } from './list-page.ts';
import { schemaOfMember } from './merge-patch.ts';
import type { OwnBodies } from './own-body.ts';
import { preferenceOf } from './prefer.ts';
import { createdBody, throwInvalid, updatedBody } from './written-body.ts';

export type HandlerDeps = { readonly ajv: Ajv2020; readonly data: DataSet; readonly ownBodies: OwnBodies };

/** Responds to a valid request with the operation's success, and keeps nothing. */
export function createHandler(operation: Operation, { ajv, data, ownBodies }: HandlerDeps): OperationHandler {
  const { source, collections } = data;
  const status = successOf(operation);
  const schema = schemaOf(operation, status);
  const compiled = compileLater(ajv, schema ?? true);
  const collection = collectionOf(operation, collections);
  const isList = operation.method === 'get' && collection?.path === operation.path;
  const respond = (path: string, response: { headers: Readonly<Record<string, string>>; body: unknown }) => {
    const tag = response.body === null ? {} : { entityTag: statelessTagOf(response.body) };
    return { ...resultOf(path, status, response), ...tag };
  };

  return async (input) => {
    const id = idIn(input);
    refuseStale(operation, input.headers['if-match'], (tag) => isTagFor(id, tag));
    const example = preferenceOf(input.headers['prefer'], operation)?.example;
    const seedText = `${operation.operationId} ${JSON.stringify(input.path)}`;
    const own = ownBodies.find(input.headers);
    const found = source({ operation, status, example, seedText });
    const { headers, body } = { ...found, ...own };
    const isChosen = example !== undefined || own !== undefined;
    const path = pathOf(operation, input);
    if (schema === undefined) return respond(path, { headers, body: null });
    if (collection !== undefined && isList) {
      const called = { path, query: input.query };
      const page = isChosen
        ? { body, headers: linkTo(called, nextCursorOf(body)) }
        : pageOf(collection.items, called, collection);
      const { Link: _exampleLink, ...otherHeaders } = headers;
      return respond(path, { headers: { ...otherHeaders, ...page.headers }, body: page.body });
    }
    // An example that the request names is sent as it is, as is a body that was given to the mock.
    if (isChosen || !isObject(body)) return respond(path, { headers, body });
    const item = (collection && findItem(collection, id)) ?? withPathParameters(body, input, schema);
    const changed = isObject(input.body) ? changedBody(item, { operation, sent: input.body, schema }) : item;
    const validate = compiled();
    if (!validate(changed)) throwInvalid(validate.errors);
    return respond(path, { headers, body: changed });
  };
}

/** `null` if the example shows a last page. */
function nextCursorOf(body: unknown): unknown {
  const page = isObject(body) && isObject(body['page']) ? body['page'] : {};
  return page['has_more'] === false ? null : page['next_cursor'];
}

/** The example with the id of the URL. */
function withPathParameters(example: Json, { path }: HandlerInput, schema: Schema): Json {
  const members = Object.entries(path).filter(([name]) => schemaOfMember(schema, name) !== undefined);
  return { ...example, ...Object.fromEntries(members.map(([name, value]) => [name, canonicalId(value)])) };
}

function changedBody(current: Json, write: { operation: Operation; sent: Json; schema: Schema }): Json {
  return write.operation.method === 'post' ? createdBody(current, write) : updatedBody(current, write);
}
