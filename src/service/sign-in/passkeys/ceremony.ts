import { createHash, randomBytes } from 'node:crypto';
import { memberOf } from '../../../domain/errors.ts';
import type { RelyingParty } from '../../../domain/people/ways-in.ts';
import { parseJson } from '../../../domain/resources/json.ts';

// This is the only file that uses the library for WebAuthn. Its results are our own types.

/** What a browser returns for a new passkey (`PublicKeyCredential.toJSON()`), not yet verified. */
export type RegistrationResponse = {
  readonly credentialId: string;
  readonly clientData: ClientData;
  readonly attestationObject: string;
  readonly transports: readonly string[];
};

/** What a browser returns for the use of a passkey (`PublicKeyCredential.toJSON()`), not yet verified. */
export type AssertionResponse = {
  readonly credentialId: string;
  readonly clientData: ClientData;
  readonly authenticatorData: string;
  readonly signature: string;
  /** The user handle in base64url; `null` if the authenticator returned none. */
  readonly userHandle: string | null;
};

type ClientData = { readonly text: string; readonly challenge: string; readonly isCrossOrigin: boolean };

const CREDENTIAL_ID = /^[A-Za-z0-9_-]{1,1364}$/;
const BASE64URL = /^[A-Za-z0-9_-]*$/;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];
const CHALLENGE_BYTES = 32;
/** How long browsers let people choose and confirm a passkey. */
const TIMEOUT_MS = 5 * 60_000;
/** The algorithms are EdDSA, ECDSA with P-256, and RSA, which Windows Hello uses (RFC 9053, RFC 8812). */
const ALGORITHMS = [-8, -7, -257];

/** The library is loaded when the first passkey is used: it would slow down the start, and many servers have no passkeys. */
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

export function createChallenge(): Buffer<ArrayBuffer> {
  return Buffer.from(randomBytes(CHALLENGE_BYTES));
}

/** The SHA-256 of a challenge in base64url. */
export function hashChallenge(challenge: string): Buffer {
  return createHash('sha256').update(challenge).digest();
}

export type NewPasskeyRequest = {
  readonly relyingParty: RelyingParty;
  readonly challenge: Uint8Array<ArrayBuffer>;
  readonly userHandle: Uint8Array<ArrayBuffer>;
  readonly name: string;
  readonly email: string;
  /** The passkeys that the user has. Their authenticators create no second one. */
  readonly existing: readonly KnownPasskey[];
};

type KnownPasskey = { readonly credentialId: Uint8Array<ArrayBuffer>; readonly transports: readonly string[] };

/** The options for `navigator.credentials.create()`, as JSON. */
export async function creationOptions(request: NewPasskeyRequest): Promise<object> {
  const { relyingParty, challenge, userHandle, name, email, existing } = request;
  return (await library()).generateRegistrationOptions({
    rpName: 'Charter',
    rpID: relyingParty.id,
    userID: userHandle,
    userName: email,
    userDisplayName: name,
    challenge,
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: existing.map(toDescriptor),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** The options for `navigator.credentials.get()`, as JSON. Without `allowed`, the user chooses from all passkeys of this site. */
export async function requestOptions({
  relyingParty,
  challenge,
  allowed = [],
}: {
  relyingParty: RelyingParty;
  challenge: Uint8Array<ArrayBuffer>;
  allowed?: readonly KnownPasskey[];
}): Promise<object> {
  return (await library()).generateAuthenticationOptions({
    rpID: relyingParty.id,
    challenge,
    timeout: TIMEOUT_MS,
    userVerification: 'required',
    allowCredentials: allowed.map(toDescriptor),
  });
}

function toDescriptor({ credentialId, transports }: KnownPasskey) {
  return { id: Buffer.from(credentialId).toString('base64url'), transports: [...transports] };
}

export function parseRegistration(text: string): RegistrationResponse | null {
  const read = parseCredential(text);
  if (read === null) return null;
  const { credentialId, clientData, response } = read;
  const attestationObject = base64urlIn(response, 'attestationObject');
  if (attestationObject === null) return null;
  const sent = memberOf(response, 'transports');
  const transports = TRANSPORTS.filter((each) => Array.isArray(sent) && sent.includes(each));
  return { credentialId, clientData, attestationObject, transports };
}

export function parseAssertion(text: string): AssertionResponse | null {
  const read = parseCredential(text);
  if (read === null) return null;
  const { credentialId, clientData, response } = read;
  const authenticatorData = base64urlIn(response, 'authenticatorData');
  const signature = base64urlIn(response, 'signature');
  if (authenticatorData === null || signature === null) return null;
  return { credentialId, clientData, authenticatorData, signature, userHandle: base64urlIn(response, 'userHandle') };
}

function parseCredential(text: string) {
  const credential = jsonOf(text);
  const credentialId = memberOf(credential, 'id');
  const response = memberOf(credential, 'response');
  const clientDataText = base64urlIn(response, 'clientDataJSON');
  if (typeof credentialId !== 'string' || !CREDENTIAL_ID.test(credentialId) || clientDataText === null) return null;
  const clientData = jsonOf(Buffer.from(clientDataText, 'base64url').toString('utf8'));
  const challenge = memberOf(clientData, 'challenge');
  if (typeof challenge !== 'string') return null;
  const isCrossOrigin = memberOf(clientData, 'crossOrigin') === true;
  return { credentialId, clientData: { text: clientDataText, challenge, isCrossOrigin }, response };
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function base64urlIn(value: unknown, name: string): string | null {
  const text = memberOf(value, name);
  return typeof text === 'string' && BASE64URL.test(text) ? text : null;
}

export type VerifiedRegistration = {
  readonly credentialId: Uint8Array<ArrayBuffer>;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
};

/** Returns `null` unless a new passkey of this site, made with user verification, signed the challenge. */
export async function verifyRegistration(
  { credentialId, clientData, attestationObject }: RegistrationResponse,
  { origin, id }: RelyingParty,
): Promise<VerifiedRegistration | null> {
  const verified = await refusalAsNull(async () => {
    // The library would send requests to the addresses in a certificate, to see whether it was revoked.
    if (clientData.isCrossOrigin || !(await hasNoCertificate(attestationObject))) return null;
    return (await library()).verifyRegistrationResponse({
      response: {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON: clientData.text, attestationObject },
      },
      expectedChallenge: clientData.challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
  });
  if (verified === null || !verified.verified) return null;
  const { credential, credentialDeviceType, credentialBackedUp } = verified.registrationInfo;
  if (credential.id !== credentialId) return null;
  return {
    credentialId: Uint8Array.from(Buffer.from(credential.id, 'base64url')),
    publicKey: Uint8Array.from(credential.publicKey),
    counter: credential.counter,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  };
}

/**
 * Whether an attestation, which Charter does not ask for, is missing or signed with the passkey itself (WebAuthn, section 5.1.3).
 */
async function hasNoCertificate(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await helpers();
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get('fmt');
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
}

export type VerifiedAssertion = {
  readonly counter: number;
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
};

/** Returns `null` unless this passkey, used on this site with user verification, signed the challenge. */
export async function verifyAssertion(
  { credentialId, clientData, authenticatorData, signature }: AssertionResponse,
  { publicKey, relyingParty }: { publicKey: Uint8Array<ArrayBuffer>; relyingParty: RelyingParty },
): Promise<VerifiedAssertion | null> {
  const verified = await refusalAsNull(async () => {
    if (clientData.isCrossOrigin) return null;
    return (await library()).verifyAuthenticationResponse({
      response: {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON: clientData.text, authenticatorData, signature },
      },
      expectedChallenge: clientData.challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: true,
      // The counter is judged by judgeUse, after the signature: the library would compare it before.
      credential: { id: credentialId, publicKey, counter: 0 },
    });
  });
  if (verified === null || !verified.verified) return null;
  const { newCounter, credentialDeviceType, credentialBackedUp } = verified.authenticationInfo;
  return {
    counter: newCounter,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  };
}

/**
 * Returns `null` if the library throws: its errors have no types. `verify` must not use the database, whose errors would be lost.
 */
async function refusalAsNull<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}
