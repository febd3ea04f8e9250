import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { type Browser, fillForm, type Page } from './dashboard.ts';
import { formsOf, type PageForm } from './forms.ts';

/** Returns the form of the page that the script for passkeys would send. */
function passkeyFormIn(page: Page): PageForm {
  const form = formsOf(page.text).find(({ fields }) => fields.some(([name]) => name === 'credential'));
  if (form === undefined) throw new Error(`The response, with status ${page.status}, has no form for a passkey.`);
  return form;
}

/** Returns the options that the script for passkeys would pass to the browser. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
export async function optionsFrom(browser: Browser, page: Page): Promise<any> {
  const [, url = ''] = /data-options="([^"]*)"/.exec(page.text) ?? [];
  const form_token = new Map(passkeyFormIn(page).fields).get('form_token');
  const response = await browser.post(url, { form_token });
  if (response.status !== 200) throw new Error(`The options are refused with ${response.status}: ${response.text}`);
  return JSON.parse(response.text);
}

/** Sends the form of the page with this response of an authenticator. */
export async function sendCredential(
  browser: Browser,
  page: Page,
  { credential, name }: { credential: string; name?: string },
): Promise<Page> {
  const form = passkeyFormIn(page);
  return browser.post(form.action, fillForm(form, { credential, ...(name !== undefined && { name }) }));
}

type Adding = { readonly name?: string; readonly counter?: number; readonly deviation?: Deviation };

/** Adds a passkey to the account of a signed-in person. The caller ensures that the person has proved their identity recently. */
export async function addPasskeyTo(
  browser: Browser,
  origin: string,
  { name = 'Laptop', counter = 1, deviation = {} }: Adding = {},
): Promise<Authenticator> {
  const authenticator = new Authenticator(origin, { counter });
  const page = await browser.get('/profile/passkeys/new');
  const credential = authenticator.create(await optionsFrom(browser, page), deviation);
  const { status } = await sendCredential(browser, page, { credential, name });
  if (status !== 303) throw new Error(`The passkey is refused with ${status}.`);
  return authenticator;
}

/** Gives the proof that the page asks for, with a passkey. */
export async function provePasskey(browser: Browser, page: Page, authenticator: Authenticator | null): Promise<Page> {
  if (authenticator === null) throw new Error('There is no passkey.');
  const credential = authenticator.get(await optionsFrom(browser, page));
  return sendCredential(browser, page, { credential });
}

/** Signs in with the passkey, starting with the request for the sign-in page. */
export async function signInWithPasskey(
  browser: Browser,
  authenticator: Authenticator,
  deviation: Deviation = {},
): Promise<Page> {
  const page = await browser.get('/sign-in');
  const credential = authenticator.get(await optionsFrom(browser, page), deviation);
  return sendCredential(browser, page, { credential });
}

// A software authenticator, which can also do what no honest authenticator does, for the attacks in tests.

type CreationOptions = { readonly challenge: string; readonly rp: { id: string }; readonly user: { id: string } };
type RequestOptions = { readonly challenge: string; readonly rpId: string };

/** The differences from an honest response. */
export type Deviation = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  readonly isBackupEligible?: boolean;
  readonly isBackedUp?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | null;
  readonly id?: string;
  readonly format?: string;
  readonly statement?: Map<string, unknown>;
  /** Whether a byte of the signature is changed. */
  readonly isForged?: boolean;
};

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

export class Authenticator {
  readonly origin: string;
  readonly credentialId = randomBytes(32).toString('base64url');
  /** The signature counter, which increases with each signature; always 0 for a synced passkey. */
  counter: number;
  userHandle = '';
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(origin: string, { counter = 1 }: { counter?: number } = {}) {
    this.origin = origin;
    this.counter = counter;
  }

  /** Returns what the form for a new passkey sends. */
  create({ challenge, rp, user }: CreationOptions, deviation: Deviation = {}): string {
    this.userHandle = user.id;
    const id = deviation.id ?? this.credentialId;
    const rawId = Buffer.from(id, 'base64url');
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const publicKey = new Map<number, number | Uint8Array<ArrayBuffer>>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Uint8Array.from(Buffer.from(x, 'base64url'))],
      [-3, Uint8Array.from(Buffer.from(y, 'base64url'))],
    ]);
    const credential = [Buffer.alloc(16), lengthOf(rawId), rawId, isoCBOR.encode(publicKey)];
    const authData = Buffer.concat([this.#data(rp.id, deviation, 0x40), ...credential]);
    const attestation = new Map<string, unknown>([
      ['fmt', deviation.format ?? 'none'],
      ['attStmt', deviation.statement ?? new Map()],
      ['authData', Uint8Array.from(authData)],
    ]);
    // biome-ignore lint/suspicious/noExplicitAny: the statement of an attack may have any form.
    const attestationObject = Buffer.from(isoCBOR.encode(attestation as any)).toString('base64url');
    const clientDataJSON = this.#clientData({ type: 'webauthn.create', challenge }, deviation);
    const response = { clientDataJSON, attestationObject, transports: ['internal'] };
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
  }

  /** Returns what a form for an existing passkey sends. */
  get({ challenge, rpId }: RequestOptions, deviation: Deviation = {}): string {
    if (this.counter > 0) this.counter += 1;
    const authData = this.#data(rpId, deviation, 0);
    const clientDataJSON = this.#clientData({ type: 'webauthn.get', challenge }, deviation);
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const signature = createSign('sha256').update(signed).sign(this.#keys.privateKey);
    if (deviation.isForged) signature.writeUInt8(signature.readUInt8(20) ^ 1, 20);
    const { userHandle = this.userHandle } = deviation;
    const id = deviation.id ?? this.credentialId;
    const response = {
      clientDataJSON,
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
      ...(userHandle !== null && { userHandle }),
    };
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
  }

  /** Returns authenticator data (WebAuthn level 3, section 6.1). */
  #data(rpId: string, deviation: Deviation, more: number): Buffer {
    const { isPresent = true, isVerified = true, isBackupEligible = false, isBackedUp = false } = deviation;
    const flags =
      Number(isPresent) |
      (Number(isVerified) << 2) |
      (Number(isBackupEligible) << 3) |
      (Number(isBackedUp) << 4) |
      more;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(deviation.counter ?? this.counter);
    return Buffer.concat([sha256(deviation.rpId ?? rpId), Buffer.from([flags]), counter]);
  }

  #clientData({ type, challenge }: { type: string; challenge: string }, deviation: Deviation): string {
    const data = {
      type: deviation.type ?? type,
      challenge: deviation.challenge ?? challenge,
      origin: deviation.origin ?? this.origin,
      crossOrigin: deviation.crossOrigin ?? false,
    };
    return Buffer.from(JSON.stringify(data)).toString('base64url');
  }
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return length;
}
