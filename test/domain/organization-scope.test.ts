import { OrganizationScope } from '../../src/domain/organization-scope.ts';

const ID = '019df30f-b339-734b-82ec-629b4675da22';

/** As every store function takes it. */
function organizationOf(scope: OrganizationScope): string {
  return scope.organizationId;
}

// The attack: somebody who has an id out of a request writes a scope by hand. The type checker refuses each, or else
// the directive above it would be the error.
test('a scope is granted, never written down', () => {
  expect(organizationOf(OrganizationScope.grant(ID))).toBe(ID);
  // @ts-expect-error an id is not a scope
  organizationOf(ID);
  // @ts-expect-error nor is an object that looks like one
  organizationOf({ organizationId: ID });
  // @ts-expect-error nor is a copy of one
  organizationOf({ ...OrganizationScope.grant(ID) });
  // @ts-expect-error and its constructor is private
  organizationOf(new OrganizationScope(ID));
});

// The attack: a handler that holds a scope turns it into another organization's.
test('a scope cannot be turned to another organization', () => {
  const scope = OrganizationScope.grant(ID);
  expect(() => {
    // @ts-expect-error it is read-only, and not for the compiler alone
    scope.organizationId = 'another';
  }).toThrow(TypeError);
  expect(scope.organizationId).toBe(ID);
});
