export type HolderKind = 'person' | 'integration';

/** The user or the integration for which a key acts. */
export type Holder = {
  readonly id: string;
  readonly kind: HolderKind;
  readonly name: string;
  /** `null` exactly for an integration. */
  readonly email: string | null;
};

/** The e-mail of a user, which is unique, or the name of an integration. */
export function holderText({ name, email }: Pick<Holder, 'name' | 'email'>): string {
  return email ?? name;
}
