// Copies the path items of parent programs, with other parameters, fields and examples.

import { Document, isScalar, parse, parseDocument, visit } from 'yaml';
import { type Field, OWN_ID } from './field.ts';
import { inWords, pascal } from './names.ts';
import { filterName, type Resource, sortName } from './resource.ts';

type Refs = Readonly<Record<string, string>>;

/** The names of examples that are the same for every resource. */
const SHARED = [
  'limit',
  'repeated_parameter',
  'cursor',
  'body_not_object',
  'idempotency_key_reused',
  'id',
  'if_match',
  'if_none_match',
  'external_id',
  'no_changes',
  'unknown_action',
];
const JSON_BODY = ['content', 'application/json', 'examples'];

/**
 * Returns the path item of the list. `copy` is the path item of parent programs, and `location` is the Location header of parent
 * programs. In both, the names are already those of this resource.
 */
export function listPath(resource: Resource, copy: string, location: string): string {
  const { names, fields } = resource;
  const { type, types, nouns } = names;
  const document = onlyMethods(copy, ['get', 'post']);
  const filters = fields.filter(({ isFilter }) => isFilter);
  const parameters = [
    'Limit',
    'Cursor',
    sortName(resource),
    ...filters.map((field) => filterName(resource, field)),
    'IfNoneMatch',
  ];
  document.setIn(['get', 'parameters'], document.createNode(parameters.map((name) => ref('parameters', name))));
  if (filters.length < 2) replaceIn(document, 'get', /^.*/, `Returns a page of the ${nouns} of your organization.\n\n`);
  setExamples(document, ['get', 'responses', '200'], { first_page: `${type}PageFirst`, empty: `${type}PageEmpty` });
  setProblems(document, 'get', { unknown_parameter: `Validation${types}UnknownParameter` });

  const body = { minimal: `${type}CreateMinimal`, full: `${type}CreateFull` };
  setExamples(document, ['post', 'requestBody'], body);
  setExamples(document, ['post', 'responses', '201'], { full: `${type}Full`, minimal: `${type}Minimal` });
  document.setIn(
    ['post', 'responses', '201', 'headers', 'Location'],
    document.createNode(locationOf(resource, location)),
  );
  setProblems(document, 'post', { ...problemsOfBody(resource), unknown_parameter: 'ValidationUnknownParameter' });
  setConflict(document, 'post', resource);
  return printDocument(document);
}

/** Returns the path item of a row. `copy` is the path item of a parent program with the names of this resource. */
export function rowPath(resource: Resource, copy: string): string {
  const { names, fields, operations } = resource;
  const { type } = names;
  const methods = { get: 'get', update: 'patch', delete: 'delete', list: '', create: '' };
  const document = onlyMethods(
    copy,
    operations.map((operation) => methods[operation]),
  );
  setExamples(document, ['get', 'responses', '200'], { full: `${type}Full`, minimal: `${type}Minimal` });
  for (const method of ['get', 'patch', 'delete'])
    setProblems(document, method, {
      ...(method === 'patch' && problemsOfBody(resource)),
      unknown_parameter: 'ValidationUnknownParameter',
    });

  const nullable = fields.filter(({ isNullable }) => isNullable);
  const clears = nullable.length === 0 ? '' : ` Null clears ${namesIn(nullable, 'or')}.`;
  replaceIn(document, 'patch', / Null\s+clears\s[^.]*\./, clears);
  const changes = { change_one_field: `${type}UpdateOneField`, change_nothing: `${type}UpdateNothing` };
  for (const mediaType of ['application/json', 'application/merge-patch+json'])
    setIn(document, ['patch', 'requestBody', 'content', mediaType, 'examples'], refs(changes));
  setExamples(document, ['patch', 'responses', '200'], { one_field_changed: `${type}Updated` });
  setConflict(document, 'patch', resource);

  const unique = fields.filter(({ isUnique }) => isUnique);
  const again = unique.length === 0 ? '' : ` Its ${namesIn(unique, 'and')} can then be used again.`;
  replaceIn(document, 'delete', / Its\s`external_id`\s[^.]*\./, again);
  return printDocument(document);
}

/**
 * Returns the path item by the client's own id. `copy` is the path item of parent programs, and `location` is the Location header
 * of parent programs. In both, the names are already those of this resource.
 */
export function ownIdPath(resource: Resource, copy: string, location: string): string {
  const { names, fields } = resource;
  const { type, singular } = names;
  const document = parseDocument(copy.replaceAll('/ExternalIdInPath.yaml', `/${type}ExternalIdInPath.yaml`));
  for (const method of ['get', 'delete'])
    setProblems(document, method, { unknown_parameter: 'ValidationUnknownParameter' });
  replaceIn(document, 'put', /:\s`description`\sbecomes\s[^.]*(?=\.)/, '');
  const parameters = [`${type}ExternalIdInPath`, 'IfMatch', `${type}IfNoneMatchOfWrite`];
  setIn(
    document,
    ['put', 'parameters'],
    parameters.map((name) => ref('parameters', name)),
  );
  // The first example has no values for other unique fields, so that tests can send it several times.
  setExamples(document, ['put', 'requestBody'], { minimal: `${type}UpsertMinimal`, full: `${type}UpsertFull` });
  setExamples(document, ['put', 'responses', '201'], { created: `${type}Full` });
  setIn(document, ['put', 'responses', '201', 'headers', 'Location'], locationOf(resource, location));
  setExamples(document, ['put', 'responses', '412'], {
    [`stale_${singular}`]: `PreconditionFailedStale${type}`,
    exists_already: `PreconditionFailedExists${type}`,
    does_not_exist: `PreconditionFailedMissing${type}`,
    weak_entity_tag: 'PreconditionFailedWeakEntityTag',
  });
  const problems = { ...problemsOfBody(resource), unknown_field: `Validation${type}UpsertUnknownField` };
  setProblems(document, 'put', { ...problems, unknown_parameter: 'ValidationUnknownParameter' });
  const others = { ...resource, fields: fields.filter(({ name }) => name !== OWN_ID) };
  if (others.fields.some(({ isUnique }) => isUnique)) setConflict(document, 'put', others);
  return printDocument(document);
}

/** Returns the path item of the batch. `copy` is the path item of parent programs with the names of this resource. */
export function batchPath({ names: { type }, fields }: Resource, copy: string): string {
  const unique = fields.filter(({ isUnique }) => isUnique);
  const document = parseDocument(copy.replace(`whose \`${OWN_ID}\``, `whose ${namesIn(unique, 'or')}`));
  setExamples(document, ['post', 'responses', '409'], { change_refused: `ConflictChange${type}` });
  setExamples(document, ['post', 'responses', '412'], { change_refused: `PreconditionFailedChange${type}` });
  setProblems(document, 'post', {
    change_refused: `Validation${type}BatchChange`,
    unknown_parameter: 'ValidationUnknownParameter',
  });
  return printDocument(document);
}

function onlyMethods(copy: string, methods: readonly string[]): Document {
  const document = parseDocument(copy);
  for (const method of Object.keys(document.toJS())) if (!methods.includes(method)) document.delete(method);
  return document;
}

/** Replaces a part of an operation's description, if the path has the operation. */
function replaceIn(document: Document, method: string, part: RegExp, text: string): void {
  const place = [method, 'description'];
  const description = document.getIn(place);
  if (typeof description !== 'string') return;
  if (!part.test(description)) throw new Error(`The description of ${method} has no part that matches ${part}.`);
  document.setIn(place, description.replace(part, text));
}

/** Sets a node of an operation, if the path has the operation. */
function setIn(document: Document, place: readonly string[], value: unknown): void {
  if (document.has(place[0])) document.setIn(place, document.createNode(value));
}

function setExamples(document: Document, place: readonly string[], examples: Refs): void {
  setIn(document, [...place, ...JSON_BODY], refs(examples));
}

/** Sets the examples of the 422: those that all resources share, and the resource's own. */
function setProblems(document: Document, method: string, own: Refs): void {
  const place = [method, 'responses', '422', ...JSON_BODY];
  if (!document.has(method)) return;
  const examples: Refs = document.toJS()[method].responses['422'].content['application/json'].examples;
  const shared = Object.entries(examples).filter(([name]) => SHARED.includes(name));
  setIn(document, place, { ...refs(own), ...Object.fromEntries(shared) });
}

function problemsOfBody({ names: { type }, fields }: Resource): Refs {
  const references = fields.filter(({ kind }) => kind === 'reference');
  return {
    ...Object.fromEntries(
      references.map(({ name }) => [`no_such_${name.replace(/_id$/, '')}`, `Validation${type}${pascal(name)}`]),
    ),
    unknown_field: `Validation${type}UnknownField`,
  };
}

/** Sets the examples of the 409. Removes the 409 if the resource has no unique fields. */
function setConflict(document: Document, method: string, { names: { noun, type }, fields }: Resource): void {
  const unique = fields.filter(({ isUnique }) => isUnique);
  const place = [method, 'responses', '409'];
  if (!document.has(method)) return;
  if (unique.length === 0) return void document.deleteIn(place);
  const { headers } = document.toJS()[method].responses['422'];
  const examples = unique.map(({ name }) => [`${name}_taken`, `Conflict${type}${pascal(name)}`]);
  setIn(document, place, {
    description: `Another ${noun} in your organization already has this ${namesIn(unique, 'or')}. Nothing was changed.`,
    headers,
    content: {
      'application/json': { schema: ref('schemas', 'ConflictException'), examples: refs(Object.fromEntries(examples)) },
    },
  });
}

/** Returns the names of the fields, such as "`name`, `code` or `website`". */
function namesIn(fields: readonly Field[], conjunction: 'and' | 'or'): string {
  return inWords(
    fields.map(({ name }) => `\`${name}\``),
    conjunction,
  );
}

/** Returns the Location header. `copy` is the header of parent programs with the names of this resource. */
function locationOf({ names: { plural } }: Resource, copy: string) {
  const header = parse(copy);
  const length = `/api/${plural}/`.length + 36;
  Object.assign(header.schema, { minLength: length, maxLength: length });
  return header;
}

function refs(examples: Refs) {
  return Object.fromEntries(Object.entries(examples).map(([name, file]) => [name, ref('examples', file)]));
}

function ref(folder: string, file: string) {
  return { $ref: `../components/${folder}/${file}.yaml` };
}

const FORMAT = { lineWidth: 118, flowCollectionPadding: false } as const;

/** Returns the value as YAML. A list of scalars is on one line. */
export function print(value: unknown): string {
  return printDocument(new Document(value, { aliasDuplicateObjects: false, schema: 'yaml-1.1' }));
}

function printDocument(document: Document): string {
  visit(document, {
    Seq(_, list) {
      if (list.items.every(isScalar)) list.flow = true;
    },
    // The library itself wraps all other texts.
    Scalar(_, scalar) {
      if (scalar.type === 'BLOCK_LITERAL' && typeof scalar.value === 'string') scalar.value = wrap(scalar.value);
    },
  });
  // Joins the lines of a header's value, which must be on one line.
  return document.toString(FORMAT).replace(/(>;)\n +(rel=)/g, '$1 $2');
}

/** Wraps the paragraphs of a description at 115 characters. Keeps the lines of lists and code. */
export function wrap(text: string): string {
  const paragraphs = text.split('\n\n').map((paragraph) => {
    if (/^(?:[-*] |\||```| {2}|\d+\.)/m.test(paragraph)) return paragraph;
    return paragraph.replaceAll('\n', ' ').replace(/(?=.{116})(.{1,115}) /g, '$1\n');
  });
  return paragraphs.join('\n\n');
}
