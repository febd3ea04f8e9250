import { DomainError } from '../../domain/errors.ts';
import type { SecretPlace } from '../../domain/keyring.ts';
import { TOKEN_FIELD } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';

// While a page asks for a proof, it holds the form that was sent, so that nothing has to be typed again. The form is encrypted,
// because it may contain a new password, and fits only the page and the session for which it was sent.

/** For the hidden field of the page. `form`: what was sent; `null` if a page or a file was requested. */
export function sealForm(context: SignedInContext, form: URLSearchParams | null): string {
  const kept = form === null ? null : [...form].filter(([name]) => name !== TOKEN_FIELD);
  const { keyring } = context.dashboard.db;
  return keyring.encrypt(Buffer.from(JSON.stringify(kept)), placeOf(context)).toString('base64url');
}

/** Throws unless it was sealed for this page and this session. */
export function openForm(context: SignedInContext, sealed: string): URLSearchParams | null {
  const kept: [string, string][] | null = JSON.parse(decrypted(context, sealed));
  return kept === null ? null : new URLSearchParams(kept);
}

function decrypted(context: SignedInContext, sealed: string): string {
  try {
    return context.dashboard.db.keyring.decrypt(Buffer.from(sealed, 'base64url'), placeOf(context)).toString();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new RequestError('forged');
  }
}

function placeOf({ token, path }: SignedInContext): SecretPlace {
  return { column: 'a form that waits for a proof', ids: [token, path] };
}
