// The signatures of Standard Webhooks (standardwebhooks.com), version 1.

const SIGNATURE_VERSION = 'v1';
const SECRET = /^whsec_([A-Za-z0-9+/]{32,})={0,2}$/;

/** The parts of a message that are signed. */
export type Signed = { readonly id: string; readonly timestamp: string; readonly body: Uint8Array };

/** The bytes of each secret. Throws a TypeError, without the secret, for a value that cannot be one. */
export function keysOf(secret: unknown): readonly Uint8Array<ArrayBuffer>[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw new TypeError('secret is an empty list. Give the secret of the endpoint.');
  return secrets.map((each) => {
    if (typeof each !== 'string' || each === '')
      throw new TypeError('secret is missing or empty. Give the secret of the endpoint, which begins with whsec_.');
    if (each.trim() !== each)
      throw new TypeError('secret begins or ends with a blank or a line break. Remove it, such as with trim().');
    const [, base64] = SECRET.exec(each) ?? [];
    if (base64 === undefined || base64.length % 4 === 1)
      throw new TypeError('secret is not the secret of an endpoint, which is whsec_ and base64. Copy it whole.');
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  });
}

/** Whether one of the signatures in the header is right for one of the keys. Other versions of signatures are ignored. */
export async function hasSignature(
  message: Signed,
  { signatures, keys }: { signatures: string; keys: readonly Uint8Array<ArrayBuffer>[] },
): Promise<boolean> {
  // Several headers of one name arrive as one, joined by a comma and a blank.
  const given = signatures.split(/,? +/);
  const expected = await Promise.all(keys.map((key) => signatureOf(message, key)));
  return expected.some((right) => given.some((signature) => isSame(signature, right)));
}

async function signatureOf({ id, timestamp, body }: Signed, secret: Uint8Array<ArrayBuffer>): Promise<string> {
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const bytes = new Uint8Array(start.length + body.length);
  bytes.set(start);
  bytes.set(body, start.length);
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
  return `${SIGNATURE_VERSION},${btoa(String.fromCharCode(...mac))}`;
}

/** In constant time: an attacker could otherwise find a signature character by character, by the time that each guess takes. */
function isSame(given: string, right: string): boolean {
  if (given.length !== right.length) return false;
  let difference = 0;
  for (let i = 0; i < right.length; i += 1) difference |= given.charCodeAt(i) ^ right.charCodeAt(i);
  return difference === 0;
}
