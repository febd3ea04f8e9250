import { formatCount } from '../../domain/format.ts';
import type { RevokedKey } from '../../store/keys/reported-keys.ts';
import type { Mail } from '../mail.ts';

export type Told = {
  readonly recipient: { readonly id: string; readonly name: string; readonly email: string };
  /** Keys of one organization. */
  readonly keys: readonly RevokedKey[];
};

type Content = Told & { readonly publicUrl: string };

/** Says which keys were revoked because they were reported as leaked. */
export function reportMail({ recipient, keys, publicUrl }: Content): Mail {
  const [first] = keys;
  const isOne = keys.length === 1;
  const subject = isOne
    ? `The API key ${first?.prefix} was reported as leaked and revoked`
    : `${formatCount(keys.length, 'API key')} were reported as leaked and revoked`;
  const it = isOne ? 'it' : 'them';
  const text = [
    `Hello ${recipient.name},`,
    `Somebody found ${isOne ? 'an API key' : 'API keys'} of ${first?.organizationName} and reported ${it} to Charter as leaked. Charter has revoked ${it}: requests that use ${it} are refused with 401.`,
    ...keys.map((key) => `${key.name} (${key.prefix}…) of ${key.holderName}\n${keyUrl(key, { recipient, publicUrl })}`),
    `Find out where ${isOne ? 'the key' : 'the keys'} leaked, then create a new key for each program that still needs one.`,
  ].join('\n\n');
  return { to: { name: recipient.name, address: recipient.email }, subject, text: `${text}\n` };
}

/** The page of the key. Users have their own keys under My profile. */
function keyUrl({ id, userId, ownerId }: RevokedKey, { recipient, publicUrl }: Omit<Content, 'keys'>): string {
  const place =
    ownerId !== null
      ? `/organization/integrations/${userId}`
      : userId === recipient.id
        ? '/profile'
        : `/people/users/${userId}`;
  return `${publicUrl}${place}/api-keys/${id}`;
}
