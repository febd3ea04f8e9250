import { OrganizationScope } from '../../../src/domain/organizations/organization-scope.ts';

const ID = '019df30f-b339-734b-82ec-629b4675da22';

/** Takes a scope, as every store function does. */
function organizationOf(scope: OrganizationScope): string {
  return scope.organizationId;
}

// The attack: code that builds a scope by hand from an id in a request. The type checker must refuse each case. If it does not,
// the directive above the case, which expects an error, is an error itself.
test('a scope can only be granted, never constructed', () => {
  expect(organizationOf(OrganizationScope.grant(ID))).toBe(ID);
  // @ts-expect-error an id is not a scope
  organizationOf(ID);
  // @ts-expect-error an object of the same shape is not a scope
  organizationOf({ organizationId: ID });
  // @ts-expect-error a copy of a scope is not a scope
  organizationOf({ ...OrganizationScope.grant(ID) });
  // @ts-expect-error the constructor is private
  organizationOf(new OrganizationScope(ID));
});

// The attack: a handler changes the organization of its scope.
test('the organization of a scope cannot be changed', () => {
  const scope = OrganizationScope.grant(ID);
  expect(() => {
    // @ts-expect-error the property is read-only, at run time as well
    scope.organizationId = 'another';
  }).toThrow(TypeError);
  expect(scope.organizationId).toBe(ID);
});
