// The assertions of this file are made by the type check of `npm test`: an unused @ts-expect-error is an error.
import type { CharterMock, ResponseRule, Schemas } from '../../scripts/mock/package/types.ts';

declare const mock: CharterMock;
declare const key: Schemas['Key'];
declare const rule: ResponseRule;

/** Is only compiled and never called. */
function assertions(): void {
  mock.respond({ status: 503 });
  mock.respond({ operation: '*', example: 'external_id_taken' });
  mock.respond({ operation: 'createParentProgram', status: 409, example: 'external_id_taken' });
  mock.respond({ operation: 'getKey', example: 'read_only', times: null });
  mock.respond({ operation: 'getKey', body: key });
  mock.respond({ operation: 'getKey', status: 503, body: { message: 'No.' } });
  mock.respond({ operation: 'getKey', body: async ({ headers }) => ({ ...key, name: String(headers['user-agent']) }) });
  mock.respond({ operation: 'getKey', status: 418, body: 'text', allowInvalid: true });
  mock.respond({ operation: 'getKey', disconnect: 'after' });
  mock.respond({ operation: 'getKey', sequence: [{ status: 503 }, { disconnect: 'before' }, { delay_ms: 500 }] });
  mock.respond(rule);

  // @ts-expect-error: a status that the operation does not have
  mock.respond({ operation: 'getKey', status: 409 });
  // @ts-expect-error: an example that the operation does not have
  mock.respond({ operation: 'getKey', example: 'external_id_taken' });
  // @ts-expect-error: an example that no operation has
  mock.respond({ example: 'external_id_takn' });
  // @ts-expect-error: an example of another status of the operation
  mock.respond({ operation: 'createParentProgram', status: 503, example: 'external_id_taken' });
  // @ts-expect-error: a step with a status that the operation does not have
  mock.respond({ operation: 'getKey', sequence: [{ status: 503 }, { status: 409 }] });
  // @ts-expect-error: a body without the fields of the successful response
  mock.respond({ operation: 'getKey', body: { name: 'x' } });
  // @ts-expect-error: the body of the successful response with the status of a refusal
  mock.respond({ operation: 'getKey', status: 503, body: key });
  // @ts-expect-error: a body where the contract declares none
  mock.respond({ operation: 'deleteParentProgram', status: 204, body: {} });
  // @ts-expect-error: a function that returns a body without the fields of the successful response
  mock.respond({ operation: 'getKey', body: () => ({ name: 'x' }) });
  // @ts-expect-error: a broken connection has no status
  mock.respond({ operation: 'getKey', status: 503, disconnect: 'after' });
  // @ts-expect-error: a broken connection has no headers
  mock.respond({ operation: 'getKey', headers: { 'Retry-After': 0 }, disconnect: 'after' });
  // @ts-expect-error: a webhook is sent by the server, so the mock does not respond to it
  mock.respond({ operation: 'onParentProgramCreated', status: 410 });
}

test('the type check compiles the assertions above; they are not run', () => {
  expect(assertions).toBeInstanceOf(Function);
});
