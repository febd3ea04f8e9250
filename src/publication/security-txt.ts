const LIFE_DAYS = 180;

type About = { readonly supportUrl: string | undefined; readonly origin: string };

/**
 * The security.txt of the server (RFC 9116): whom to tell about a vulnerability, and what to do with a leaked key. Returns
 * `null` without a contact, which the RFC requires, as an e-mail address or by HTTPS.
 */
export function securityTxt({ supportUrl, origin }: About, now: Date): string | null {
  if (supportUrl === undefined || supportUrl.startsWith('http:')) return null;
  const expires = new Date(now.getTime() + LIFE_DAYS * 86_400_000);
  return [
    `Contact: ${supportUrl}`,
    `Expires: ${expires.toISOString()}`,
    `Canonical: ${origin}/.well-known/security.txt`,
    `Policy: ${origin}/docs/leaked-keys`,
    'Preferred-Languages: en',
    '',
  ].join('\n');
}
