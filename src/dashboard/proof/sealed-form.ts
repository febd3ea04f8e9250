import { DomainError } from '../../domain/errors.ts';
import type { SecretPlace } from '../../domain/keyring.ts';
import { TOKEN_FIELD } from '../http/body.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';

// While a page asks for a proof, a hidden field of that page contains the form that was sent, so that nobody has to type anything
// again. During a proof at the identity provider, the database stores the form with the sign-in. The form is encrypted, because
// it may contain a new password. It can be decrypted only for the page and the session for which it was sent.

export type WaitingForm = {
  /** What the person is about to do, such as "revoke the API key “Billing”". */
  readonly purpose: string;
  /** The form that was sent; `null` if a page or a file was requested. */
  readonly form: URLSearchParams | null;
};

type Place = Pick<SignedInContext, 'dashboard' | 'token' | 'path'>;

/** Returns the form, encrypted for the hidden field of the page. */
export function sealForm(context: Place, { purpose, form }: WaitingForm): string {
  const fields = form === null ? null : [...form].filter(([name]) => name !== TOKEN_FIELD);
  const { keyring } = context.dashboard.db;
  return keyring.encrypt(Buffer.from(JSON.stringify({ purpose, fields })), placeOf(context)).toString('base64url');
}

/** Decrypts a sealed form. Throws unless it was sealed for this page and this session. */
export function openForm(context: Place, sealed: string): WaitingForm {
  const opened = findForm(context, sealed);
  if (opened === null) throw new RequestError('forged');
  return opened;
}

/** Decrypts a sealed form. Returns `null` unless it was sealed for this page and this session. */
export function findForm(context: Place, sealed: string): WaitingForm | null {
  const text = decrypt(context, sealed);
  if (text === null) return null;
  const { purpose, fields }: { purpose: string; fields: [string, string][] | null } = JSON.parse(text);
  return { purpose, form: fields === null ? null : new URLSearchParams(fields) };
}

function decrypt(context: Place, sealed: string): string | null {
  try {
    return context.dashboard.db.keyring.decrypt(Buffer.from(sealed, 'base64url'), placeOf(context)).toString();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    return null;
  }
}

function placeOf({ token, path }: Place): SecretPlace {
  return { column: 'a form that waits for a proof', ids: [token, path] };
}
