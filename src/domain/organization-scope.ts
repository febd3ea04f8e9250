/**
 * Proof that the caller may act for one organization. A store function takes a scope, never an id, so that forgetting
 * to check whose rows are touched does not compile. Only authentication and the operator's command grant one; a check of
 * the imports holds everybody else to it.
 */
export class OrganizationScope {
  // A private member makes the class nominal: no object literal passes for a scope.
  readonly #organizationId: string;

  private constructor(organizationId: string) {
    this.#organizationId = organizationId;
  }

  static grant(organizationId: string): OrganizationScope {
    return new OrganizationScope(organizationId);
  }

  get organizationId(): string {
    return this.#organizationId;
  }
}
