// The assertions of this file are made by the type check of `npm test`: an unused @ts-expect-error is an error.
import type { Handler, Handlers, Input, Success } from '../../src/api/operation.ts';
import type { JsonText } from '../../src/api/response.ts';
import type { OrganizationScope } from '../../src/domain/organizations/organization-scope.ts';

declare function accept<T>(value: T): void;
declare const program: Extract<Success<'getParentProgram'>, { status: 200 }>['body'];
declare const json: JsonText;
declare const others: Omit<Handlers, 'getKey'>;

/** Is only compiled and never called. */
function assertions(): void {
  accept<Success<'getParentProgram'>>({ status: 200, headers: {}, body: program });
  accept<Success<'deleteParentProgram'>>({ status: 204, headers: {}, body: null });
  accept<Success<'createParentProgram'>>({ status: 201, headers: { Location: '/x' }, body: program });

  // @ts-expect-error: a status that the contract does not declare for the operation
  accept<Success<'getParentProgram'>>({ status: 201, headers: {}, body: program });
  // @ts-expect-error: a refusal is thrown, never returned
  accept<Success<'getParentProgram'>>({ status: 404, headers: {}, body: { message: 'No.' } });
  // @ts-expect-error: a body where the contract declares none
  accept<Success<'deleteParentProgram'>>({ status: 204, headers: {}, body: program });
  // @ts-expect-error: serialized JSON where the contract declares no body
  accept<Success<'deleteParentProgram'>>({ status: 204, headers: {}, body: json });
  // @ts-expect-error: an object that only looks like serialized JSON
  accept<Success<'getParentProgram'>>({ status: 200, headers: {}, body: { text: '{}' } });
  // @ts-expect-error: no body where the contract declares one
  accept<Success<'getParentProgram'>>({ status: 200, headers: {}, body: null });
  // @ts-expect-error: a header that the contract requires is missing
  accept<Success<'createParentProgram'>>({ status: 201, headers: {}, body: program });
  // @ts-expect-error: a header that the contract does not declare
  accept<Success<'getParentProgram'>>({ status: 200, headers: { 'X-Secret': '1' }, body: program });
  // @ts-expect-error: a field that the contract does not declare
  accept<Success<'getParentProgram'>['body']>({ ...program, organization_id: 'x' });
  // @ts-expect-error: an instant is text in the contract, not a Date
  accept<Success<'getParentProgram'>['body']>({ ...program, created_at: new Date() });

  // @ts-expect-error: an operation of the contract without a handler
  accept<Handlers>(others);
  // @ts-expect-error: a handler of an operation that the contract does not have
  accept<Handler<'createKey'>>(async () => ({ status: 201, headers: {}, body: null }));
  // @ts-expect-error: a handler of one operation in place of another
  accept<Handler<'deleteParentProgram'>>(async () => ({ status: 200, headers: {}, body: program }));

  // @ts-expect-error: a bare id is not a scope
  accept<OrganizationScope>({ organizationId: 'x' });
}

/** Checks that a parameter with a default always has a value, and that a parameter without a default may be undefined. */
function inputs(list: Input<'listParentPrograms'>, create: Input<'createParentProgram'>): void {
  accept<number>(list.query.limit);
  accept<string>(list.query.sort);
  // @ts-expect-error: a cursor may be missing
  accept<string>(list.query.cursor);
  // @ts-expect-error: a parameter that the contract does not have
  accept<unknown>(list.query.page);
  // @ts-expect-error: the organization comes from the key alone
  accept<unknown>(create.body.organization_id);
  accept<string | undefined>(create.headers['idempotency-key']);
}

test('the type check compiles the assertions above; they are not run', () => {
  expect([assertions, inputs]).toHaveLength(2);
});
