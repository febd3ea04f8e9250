import { createHash, randomBytes } from 'node:crypto';
import { memberOf } from '../../../domain/errors.ts';
import type { RelyingParty } from '../../../domain/people/ways-in.ts';
import { parseJson } from '../../../domain/resources/json.ts';

// This is the only file that uses the WebAuthn library. The functions return types of our own.

/** The response of a browser that has created a passkey (`PublicKeyCredential.toJSON()`), not yet verified. */
export type RegistrationResponse = {
  readonly credentialId: string;
  readonly clientData: ClientData;
  readonly attestationObject: string;
  readonly transports: readonly string[];
};

/** The response of a browser that has used a passkey (`PublicKeyCredential.toJSON()`), not yet verified. */
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
/** The time that a browser gives people to choose and confirm a passkey. */
const TIMEOUT_MS = 5 * 60_000;
/** The accepted signature algorithms: EdDSA, ECDSA with P-256, and RSA, which Windows Hello uses (RFC 9053, RFC 8812). */
const ALGORITHMS = [-8, -7, -257];

/**
 * Loads the library when the first passkey is used, because loading it would slow down the startup, and many servers have no
 * passkeys.
 */
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

export function createChallenge(): Buffer<ArrayBuffer> {
  return Buffer.from(randomBytes(CHALLENGE_BYTES));
}

/** Returns the SHA-256 of a challenge, which is given in base64url. */
export function hashChallenge(challenge: string): Buffer {
  return createHash('sha256').update(challenge).digest();
}

export type NewPasskeyRequest = {
  readonly relyingParty: RelyingParty;
  readonly challenge: Uint8Array<ArrayBuffer>;
  readonly userHandle: Uint8Array<ArrayBuffer>;
  readonly name: string;
  readonly email: string;
  /** The user's present passkeys. An authenticator that has one of these passkeys does not create another one. */
  readonly existing: readonly KnownPasskey[];
};

type KnownPasskey = { readonly credentialId: Uint8Array<ArrayBuffer>; readonly transports: readonly string[] };

/** Returns the options for `navigator.credentials.create()`, as JSON. */
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

/**
 * Returns the options for `navigator.credentials.get()`, as JSON. Without `allowed`, the user can choose any passkey of this
 * site.
 */
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

/** Returns the new passkey, or `null` unless it was created for this site with user verification and has signed the challenge. */
export async function verifyRegistration(
  { credentialId, clientData, attestationObject }: RegistrationResponse,
  { origin, id }: RelyingParty,
): Promise<VerifiedRegistration | null> {
  const verified = await refusalAsNull(async () => {
    // The library would send requests to the URLs in a certificate, to check whether it was revoked.
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
 * Returns whether the response has no attestation, or one that is signed with the passkey itself (WebAuthn, section 5.1.3).
 * Charter does not ask for an attestation.
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

/**
 * Returns the result of the use, or `null` unless this passkey was used on this site with user verification and has signed the
 * challenge.
 */
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
      // The counter is zero, because the library would otherwise compare the counters before it verifies the signature. judgeUse
      // compares them afterwards.
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
 * Calls `verify`, and returns `null` if the library throws, because the library's errors have no types. `verify` must not use the
 * database, because the errors of the database would be hidden.
 */
async function refusalAsNull<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}
