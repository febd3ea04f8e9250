/**
 * Proof that the caller may act for one organization. Store functions take a scope in place of an id, so that code without an
 * authorization check does not compile. Only authentication, sign-in, access links, the operator's commands and the delivery of
 * webhooks may grant a scope; the dependency check enforces that.
 */
export class OrganizationScope {
  // A private member makes the class nominal, so that an object literal is not assignable to it.
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
