import { randomBytes } from 'node:crypto';
import { isSameText } from '../../domain/text.ts';
import { html } from '../../html/html.ts';
import { sign } from '../http/cookies.ts';
import type { RequestContext, SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';

// A page shows a new secret only once, in the response to the form that created the secret, and that form can be submitted only
// once. Reloading the response, going back or using a second tab therefore shows no key again and creates no second key. The form
// contains an id, which the action claims in its own transaction (form-claim.ts). If the action fails, the claim is rolled back
// and the form can be sent again.

/**
 * Returns the value of the hidden field "form_id": a random id, and a signature which proves that the id was made for this
 * session.
 */
export function newFormId({ token }: Pick<SignedInContext, 'token'>): string {
  const id = randomBytes(16).toString('base64url');
  return `${id}.${sign(token, `form id ${id}`)}`;
}

/** Returns the id from the value of the field. Throws unless the id was made for this session. */
export function readFormId({ token }: RequestContext, sent: string): string {
  const [id = '', proof = ''] = sent.split('.');
  if (token === null || !isSameText(proof, sign(token, `form id ${id}`))) throw new RequestError('forged');
  return id;
}

const MESSAGES = {
  creation: {
    was: 'The key was created, and was shown in the first response. It cannot be shown again, and there is no second key.',
    remedy: 'If you did not copy it, rotate it from its menu in the list. You then see the key that replaces it.',
  },
  rotation: {
    was: 'The key was rotated, and the new one was shown in the first response. It cannot be shown again.',
    remedy: 'If you did not copy it, rotate the new one from its menu in the list.',
  },
  'webhook-endpoint': {
    was: 'The endpoint was added, and its secret was shown in the first response. It cannot be shown again, and there is no second endpoint.',
    remedy: 'If you did not copy the secret, rotate it on the endpoint’s page. You then see the new one.',
  },
  'webhook-secret': {
    was: 'The secret was rotated, and the new one was shown in the first response. It cannot be shown again.',
    remedy: 'If you did not copy it, rotate the secret once more on the endpoint’s page.',
  },
  integration: {
    was: 'The integration was created, and there is no second one.',
    remedy: 'You find it in the list.',
  },
  invitation: {
    was: 'The user was invited, and the link was shown in the first response. It cannot be shown again.',
    remedy: 'If you did not copy it, make a new link on the user’s page. It voids the first one.',
  },
  link: {
    was: 'The link was made, and was shown in the first response. It cannot be shown again.',
    remedy: 'If you did not copy it, make another one on the user’s page. It voids the first one.',
  },
  'recovery-codes': {
    was: 'The recovery codes were made, and were shown in the first response. They cannot be shown again.',
    remedy: 'If you did not keep them, regenerate them under My profile. The new ones replace these.',
  },
};

/** Returns the page for a form that was submitted a second time. `link` leads to the result of the first submission. */
export function alreadySentPage(
  context: SignedInContext,
  made: keyof typeof MESSAGES,
  link: { readonly name: string; readonly href: string },
): View {
  const title = 'This form was sent already';
  const { was, remedy } = MESSAGES[made];
  const message = html`<p>${was}</p><p>${remedy}</p>`;
  return errorPage(context, { status: 409, title, message, link });
}
