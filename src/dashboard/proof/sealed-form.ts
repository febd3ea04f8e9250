import { DomainError } from '../../domain/errors.ts';
import type { SecretPlace } from '../../domain/keyring.ts';
import { TOKEN_FIELD } from '../http/body.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';

// While a page asks for a proof, it holds the form that was sent, so that nothing has to be typed again. While somebody proves
// who they are at the identity provider, the database holds it, with their sign-in there. The form is encrypted, because it may
// contain a new password, and fits only the page and the session for which it was sent.

export type WaitingForm = {
  /** What the person is about to do: "revoke the API key “Billing”". */
  readonly purpose: string;
  /** What was sent; `null` if a page or a file was requested. */
  readonly form: URLSearchParams | null;
};

/** The session, and the page. */
type Place = Pick<SignedInContext, 'dashboard' | 'token' | 'path'>;

/** The text for the hidden field of the page. */
export function sealForm(context: Place, { purpose, form }: WaitingForm): string {
  const fields = form === null ? null : [...form].filter(([name]) => name !== TOKEN_FIELD);
  const { keyring } = context.dashboard.db;
  return keyring.encrypt(Buffer.from(JSON.stringify({ purpose, fields })), placeOf(context)).toString('base64url');
}

/** Opens a sealed form. Throws unless it was sealed for this page and this session. */
export function openForm(context: Place, sealed: string): WaitingForm {
  const opened = findForm(context, sealed);
  if (opened === null) throw new RequestError('forged');
  return opened;
}

/** Opens a sealed form; `null` unless it was sealed for this page and this session. */
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
