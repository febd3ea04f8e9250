// Held by the type check of `npm test`: an @ts-expect-error above what does compile is an error itself.
import type { JsonText } from '../../src/api/json-text.ts';
import type { Handler, Handlers, Input, Success } from '../../src/api/operation.ts';
import type { OrganizationScope } from '../../src/domain/organization-scope.ts';

declare function accept<T>(value: T): void;
declare const program: Extract<Success<'getParentProgram'>, { status: 200 }>['body'];
declare const json: JsonText;
declare const others: Omit<Handlers, 'getKey'>;

/** Never called: it is there to be compiled. */
function assertions(): void {
  accept<Success<'getParentProgram'>>({ status: 200, headers: {}, body: program });
  accept<Success<'deleteParentProgram'>>({ status: 204, headers: {}, body: null });
  accept<Success<'createParentProgram'>>({ status: 201, headers: { Location: '/x' }, body: program });

  // @ts-expect-error: a status that the contract does not show for the operation
  accept<Success<'getParentProgram'>>({ status: 201, headers: {}, body: program });
  // @ts-expect-error: a refusal is thrown, never returned
  accept<Success<'getParentProgram'>>({ status: 404, headers: {}, body: { message: 'No.' } });
  // @ts-expect-error: a body where the contract shows none
  accept<Success<'deleteParentProgram'>>({ status: 204, headers: {}, body: program });
  // @ts-expect-error: JSON that is written already, where the contract shows none
  accept<Success<'deleteParentProgram'>>({ status: 204, headers: {}, body: json });
  // @ts-expect-error: an object that only looks like JSON that is written already
  accept<Success<'getParentProgram'>>({ status: 200, headers: {}, body: { text: '{}' } });
  // @ts-expect-error: no body where the contract shows one
  accept<Success<'getParentProgram'>>({ status: 200, headers: {}, body: null });
  // @ts-expect-error: a header that the contract requires is missing
  accept<Success<'createParentProgram'>>({ status: 201, headers: {}, body: program });
  // @ts-expect-error: a header that the contract does not show
  accept<Success<'getParentProgram'>>({ status: 200, headers: { 'X-Secret': '1' }, body: program });
  // @ts-expect-error: a field that the contract does not show
  accept<Success<'getParentProgram'>['body']>({ ...program, organization_id: 'x' });
  // @ts-expect-error: an instant is text in the contract, not a Date
  accept<Success<'getParentProgram'>['body']>({ ...program, created_at: new Date() });

  // @ts-expect-error: an operation of the contract without a handler
  accept<Handlers>(others);
  // @ts-expect-error: a handler of an operation that the contract does not have
  accept<Handler<'createKey'>>(async () => ({ status: 201, headers: {}, body: null }));
  // @ts-expect-error: a handler of one operation in the place of another
  accept<Handler<'deleteParentProgram'>>(async () => ({ status: 200, headers: {}, body: program }));

  // @ts-expect-error: a bare id is no scope
  accept<OrganizationScope>({ organizationId: 'x' });
}

/** Defaults are filled in before the handler, and what has none may be missing. */
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

test('the assertions above are compiled by the type check, not run', () => {
  expect([assertions, inputs]).toHaveLength(2);
});
