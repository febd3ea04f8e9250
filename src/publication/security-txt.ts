const LIFE_DAYS = 180;

type About = {
  readonly supportUrl: string | undefined;
  /** At which the file is; the documentation is at the first one. */
  readonly origins: readonly [string, ...string[]];
};

/**
 * The security.txt of the server (RFC 9116): whom to tell about a vulnerability, and what to do with a leaked key. Returns
 * `null` without a contact, which the RFC requires, as an e-mail address or by HTTPS.
 */
export function securityTxt({ supportUrl, origins }: About, now: Date): string | null {
  if (supportUrl === undefined || supportUrl.startsWith('http:')) return null;
  const expires = new Date(now.getTime() + LIFE_DAYS * 86_400_000);
  return [
    `Contact: ${supportUrl}`,
    `Expires: ${expires.toISOString()}`,
    ...[...new Set(origins)].map((origin) => `Canonical: ${origin}/.well-known/security.txt`),
    `Policy: ${origins[0]}/docs/leaked-keys`,
    'Preferred-Languages: en',
    '',
  ].join('\n');
}
