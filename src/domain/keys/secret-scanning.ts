import { createPublicKey, type KeyObject, verify } from 'node:crypto';

// Verifies the signatures of GitHub's secret scanning partner program: ECDSA with P-256 and SHA-256 over the bytes of the body.

/** The public keys of the scanner, by their identifiers. */
export type ScannerKeys = ReadonlyMap<string, KeyObject>;

/**
 * Parses "identifier:key" entries that are separated by commas. A key is the base64 of a PEM file, on one line. Returns `null` if
 * the text is malformed.
 */
export function parseScannerKeys(text: string): ScannerKeys | null {
  const keys = new Map<string, KeyObject>();
  for (const each of text.split(',')) {
    const [, identifier = '', encoded = ''] = /^\s*([\w-]+):([A-Za-z0-9+/]+={0,2})\s*$/.exec(each) ?? [];
    const key = parsePublicKey(encoded);
    if (key === null) return null;
    keys.set(identifier, key);
  }
  return keys;
}

function parsePublicKey(encoded: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: Buffer.from(encoded, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
  } catch {
    return null;
  }
}

/** The values of the headers Github-Public-Key-Identifier and Github-Public-Key-Signature. */
export type ScannerSignature = { readonly identifier: string; readonly signature: string };

export function isSignedByScanner(
  keys: ScannerKeys,
  body: Buffer,
  { identifier, signature }: ScannerSignature,
): boolean {
  const key = keys.get(identifier);
  return key !== undefined && verify('sha256', body, key, Buffer.from(signature, 'base64'));
}
