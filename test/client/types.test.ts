// The assertions of this file are made by the type check of `npm test`: an unused @ts-expect-error is an error.
import type { IncomingMessage } from 'node:http';
import {
  type ChangeOf,
  type CharterClient,
  createClient,
  type ErrorResult,
  ResponseError,
  type Result,
  type Schemas,
} from '../../src/client/charter-client.ts';
import type { IdempotentPathIn } from '../../src/client/contract.ts';
import {
  InvalidEventError,
  type InvalidEventReason,
  parseEvent,
  type WebhookEvent,
} from '../../src/client/webhooks.ts';

/** Accepts a value only if its type is exactly T. A wider or a narrower type does not compile. */
declare function exactly<T>(): <U>(value: U & (Same<T, U> extends true ? unknown : never)) => void;
type Same<T, U> = (<X>() => X extends T ? 1 : 2) extends <X>() => X extends U ? 1 : 2 ? true : false;

const PROGRAMS = '/api/parent_programs';
const PROGRAM = '/api/parent_programs/{id}';
const id = '019c2291-34b8-752e-bca9-6513269e0d37';

/** Is only compiled and never called, like every function below. */
async function responses(charter: CharterClient): Promise<void> {
  const list = await charter.GET(PROGRAMS, { params: { query: { limit: 25 } } });
  exactly<200 | 400 | 401 | 403 | 405 | 406 | 408 | 414 | 422 | 429 | 500 | 501 | 503>()(list.status);
  if (list.ok) exactly<Schemas['ParentProgramPage']>()(list.data);
  else exactly<string>()(list.error.message);
  if (list.status === 422) exactly<Schemas['ValidationException']>()(list.error);
  // @ts-expect-error: only a 422 has errors by field
  if (!list.ok) accept(list.error.errors);
  // @ts-expect-error: there is no data before the status is known
  accept(list.data.data);
  // @ts-expect-error: a status that the contract does not declare
  if (list.status === 418) accept(list);

  const program = await charter.GET(PROGRAM, { params: { path: { id } } });
  if (program.status === 404) exactly<Schemas['NotFoundException']>()(program.error);
  if (program.ok) exactly<Schemas['ParentProgram']>()(program.data);

  const created = await charter.POST(PROGRAMS, { body: { name: 'Nordic Scholars' } });
  if (created.ok) exactly<201>()(created.status);
  if (created.status === 409) exactly<Schemas['ConflictException']>()(created.error);

  const deleted = await charter.DELETE(PROGRAM, { params: { path: { id } } });
  if (deleted.ok) exactly<undefined>()(deleted.data);
  exactly<Result<'/api/key', 'get'>>()(await charter.GET('/api/key'));
}

async function conditional(charter: CharterClient, etag: string | undefined): Promise<void> {
  const header = etag === undefined ? {} : { 'If-None-Match': etag };
  const response = await charter.GET(PROGRAM, { params: { path: { id }, header } });
  if (response.status === 304) exactly<false>()(response.ok);
  // @ts-expect-error: a 304 is not ok and has no error
  if (!response.ok) accept(response.error.message);
  // @ts-expect-error: a 304 has no data either
  if (response.status === 304) accept(response.data.name);

  const unconditional = await charter.GET(PROGRAM, { params: { path: { id } } });
  // @ts-expect-error: without If-None-Match there is no 304
  if (unconditional.status === 304) accept(unconditional);
}

async function headers(charter: CharterClient): Promise<void> {
  const list = await charter.GET(PROGRAMS);
  exactly<string | null>()(list.headers.get('X-Anything'));
  if (list.status !== 200) return;
  exactly<string>()(list.headers.get('ETag'));
  exactly<string | null>()(list.headers.get('Link'));
  const program = await charter.GET(PROGRAM, { params: { path: { id } } });
  if (program.status === 503) exactly<string>()(program.headers.get('Retry-After'));
  const isRead: Headers = program.headers;
  accept(isRead);
}

async function refused(charter: CharterClient): Promise<void> {
  // @ts-expect-error: a path that the contract does not have
  await charter.GET('/api/parent_program');
  // @ts-expect-error: a method that the path does not have
  await charter.DELETE(PROGRAMS);
  // @ts-expect-error: the path's parameter is missing
  await charter.GET(PROGRAM);
  // @ts-expect-error: a mistyped parameter beside a right one
  await charter.GET(PROGRAMS, { params: { query: { limit: 25, serach: 'abc' } } });
  // @ts-expect-error: a mistyped header beside a right one
  await charter.GET(PROGRAMS, { params: { header: { 'If-None-Match': '"x"', 'If-Nonmatch': '"x"' } } });
  // @ts-expect-error: an unknown sort order
  await charter.GET(PROGRAMS, { params: { query: { sort: 'id' } } });
  // @ts-expect-error: null is not a filter
  await charter.GET(PROGRAMS, { params: { query: { external_id: null } } });
  const header = { 'If-Match': new Headers().get('ETag') };
  // @ts-expect-error: a possibly undefined value for a required header
  await charter.PATCH(PROGRAM, { params: { path: { id }, header }, body: {} });
  // @ts-expect-error: the name is missing
  await charter.POST(PROGRAMS, { body: {} });
  // @ts-expect-error: a field that the contract does not have
  await charter.POST(PROGRAMS, { body: { name: 'Nordic Scholars', organization_id: id } });
  // @ts-expect-error: a body where the contract declares none
  await charter.GET('/api/key', { body: {} });
  // @ts-expect-error: a call cannot change the base URL
  await charter.GET('/api/key', { baseUrl: 'https://other.example' });
  // @ts-expect-error: no client without a key
  createClient({ baseUrl: 'https://charter.example.org' });
}

async function lists(charter: CharterClient): Promise<void> {
  for await (const program of charter.items(PROGRAMS, { params: { query: { search: 'abc' } } })) {
    exactly<Schemas['ParentProgram']>()(program);
  }
  for await (const event of charter.items('/api/events')) exactly<Schemas['Event']>()(event);
  for await (const page of charter.pages('/api/events')) exactly<Schemas['EventPage']>()(page);
  for await (const page of charter.pages(PROGRAMS)) exactly<Schemas['ParentProgramPage']>()(page);
  // @ts-expect-error: not a list
  charter.items('/api/key');
  // @ts-expect-error: with If-None-Match a list page could be a 304, and its items would be missing
  charter.pages(PROGRAMS, { params: { header: { 'If-None-Match': '"x"' } } });
  try {
    await charter.pages(PROGRAMS).next();
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    exactly<ErrorResult>()(error.result);
    if (error.result.status === 422) exactly<Record<string, string[]>>()({ ...error.result.error.errors });
  }
}

async function changes(charter: CharterClient): Promise<void> {
  const replaced = await charter.upsert(PROGRAMS, 'sis-1', { name: 'Nordic Scholars' });
  if (replaced.ok) exactly<200 | 201>()(replaced.status);
  if (replaced.ok) exactly<Schemas['ParentProgram']>()(replaced.data);
  // @ts-expect-error: the ID is in the path
  await charter.upsert(PROGRAMS, 'sis-1', { name: 'Nordic Scholars', external_id: 'sis-1' });
  // @ts-expect-error: events cannot be changed
  await charter.upsert('/api/events', 'sis-1', {});
  for await (const { outcomes, done } of charter.batch(PROGRAMS, [
    { action: 'create', body: { name: 'Nordic Scholars' } },
    { action: 'upsert', external_id: 'sis-1', body: { name: 'Nordic Scholars' }, if_none_match: '*' },
    { action: 'update', id, body: { metadata: { colour: null } }, if_match: '"x"' },
    { action: 'delete', id },
    { action: 'delete', external_id: 'sis-1', if_match: '*' },
  ])) {
    exactly<number>()(done);
    for (const { status, change, body, exception } of outcomes) {
      exactly<200 | 201 | 204 | 404 | 409 | 412 | 413 | 422>()(status);
      exactly<ChangeOf<typeof PROGRAMS>>()(change);
      exactly<Schemas['ParentProgram'] | null>()(body);
      if (exception !== null) exactly<string>()(exception.message);
    }
  }
  // @ts-expect-error: an update without its id
  charter.batch(PROGRAMS, [{ action: 'update', body: { name: 'Nordic Scholars' } }]);
  // @ts-expect-error: a creation without a name
  charter.batch(PROGRAMS, [{ action: 'create', body: {} }]);
  // @ts-expect-error: a deletion has no body
  charter.batch(PROGRAMS, [{ action: 'delete', id, body: {} }]);
  // @ts-expect-error: a deletion names the program once
  charter.batch(PROGRAMS, [{ action: 'delete', id, external_id: 'sis-1' }]);
  // @ts-expect-error: not a list that takes batches
  charter.batch('/api/events', []);
}

type Post<Header> = { post: { parameters: { query?: never; header?: Header; path?: never; cookie?: never } } };
type Posts = {
  '/optional': Post<{ 'Idempotency-Key'?: string; 'If-Match'?: string }>;
  '/required': { post: { parameters: { header: { 'Idempotency-Key': string } } } };
  '/without-headers': Post<never>;
  '/another-header': Post<{ 'If-Match'?: string }>;
  '/no-post': { get: Post<{ 'Idempotency-Key'?: string }>['post']; post?: never };
};

// If the client sent an Idempotency-Key with another POST, it would retry a request that is not safe to repeat.
function idempotent(path: IdempotentPathIn<Posts>): void {
  exactly<'/optional' | '/required'>()(path);
}

async function events(request: Request, incoming: IncomingMessage): Promise<void> {
  const event = await parseEvent(request.headers, await request.text(), undefined);
  exactly<WebhookEvent>()(event);
  exactly<Schemas['Event']['type'] | 'webhook.test'>()(event.type);
  exactly<string>()(event.id);
  if (event.type === 'parent_program.deleted') exactly<Schemas['ParentProgram']>()(event.data);
  if (event.type === 'parent_program.updated') exactly<Schemas['ParentProgramUpdatedEvent']>()(event);
  if (event.type === 'webhook.test') exactly<Record<string, never>>()(event.data);
  // @ts-expect-error: a type that the contract does not have
  if (event.type === 'parent_program.moved') accept(event);
  await parseEvent(incoming.headers, Buffer.from(''), ['whsec_a', 'whsec_b']);
  await parseEvent({ 'webhook-id': 'x' }, new ArrayBuffer(0), 'whsec_a');
  // @ts-expect-error: the body after a JSON parser
  await parseEvent(incoming.headers, {}, 'whsec_a');
  // @ts-expect-error: no event without a secret
  await parseEvent(incoming.headers, '');
  try {
    await parseEvent(request.headers, '', 'whsec_a');
  } catch (error) {
    if (!(error instanceof InvalidEventError)) throw error;
    exactly<InvalidEventReason>()(error.reason);
    // @ts-expect-error: a reason that does not exist
    if (error.reason === 'expired') accept(error);
  }
}

test('the type check compiles the assertions above; they are not run', () => {
  expect([responses, conditional, headers, refused, lists, changes, idempotent, events]).toHaveLength(8);
});

declare function accept(value: unknown): void;
