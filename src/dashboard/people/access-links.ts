import { type AccessLinkKind, linkUrl } from '../../domain/people/access-link.ts';
import { html } from '../../html/html.ts';
import { isSingleSignOnRequired } from '../../service/authority/sign-in-ways.ts';
import { invalid } from '../../service/outcome.ts';
import { createLink } from '../../service/people/access-links.ts';
import { mailLink } from '../../service/people/link-mail.ts';
import type { AccessLink } from '../../service/sign-in/password.ts';
import type { Form } from '../forms/form.ts';
import { alreadySentPage } from '../forms/one-time-form.ts';
import { userUrl } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { copyField, emailText, head } from '../markup/parts.ts';
import { instant } from '../markup/words.ts';
import { type LINK_FORM, userPage } from './user.ts';
import { userIdOf } from './user-parts.ts';

export async function sendLink(context: SignedInContext, { values }: Form<typeof LINK_FORM>): Promise<View> {
  const { dashboard, actor, now } = context;
  const userId = userIdOf(context);
  const { kind, formId } = values;
  if (!isLinkKind(kind)) {
    return userPage(context, problemOf(invalid('kind', 'must be invitation or password_reset.')));
  }
  const outcome = await createLink(dashboard.db, actor, { userId, kind, formId, now });
  switch (outcome.kind) {
    case 'link-made':
      return linkPage(context, outcome.link);
    case 'conflict':
      return userPage(context, problemOf(outcome));
    case 'already-sent':
      return alreadySentPage(context, 'link', { name: 'See the user', href: userUrl(userId) });
  }
}

function isLinkKind(text: string): text is AccessLinkKind {
  return text === 'invitation' || text === 'password_reset';
}

/** Returns whether users can get their links by mail. */
export function canMailLinks({ dashboard }: SignedInContext): boolean {
  return dashboard.publicUrl !== undefined && dashboard.outbox.canSend;
}

/**
 * Mails the link to the user if mail is configured. Shows the link once to the person who made it, except for a mailed
 * invitation: that person could open the invitation in place of the user. Opening an invitation proves that the e-mail is the
 * user's, and reveals whether the e-mail has an account in another organization.
 */
export async function linkPage(context: SignedInContext, link: AccessLink): Promise<View> {
  const { dashboard, actor, origin } = context;
  const isMailed = canMailLinks(context);
  const url = linkUrl(origin, link.token);
  const isToProvider = await isSingleSignOnRequired(dashboard.db, actor, link.userId);
  if (isMailed) mailLink(dashboard, { ...link, organizationName: actor.organizationName, isToProvider, url });
  if (isMailed && !link.hasAccepted) return mailedPage(context, { link, isToProvider });
  const title = link.kind === 'invitation' ? 'Invitation made' : isToProvider ? 'Link made' : 'Reset link made';
  const main = html`${head({ title, up: { name: link.name, href: userUrl(link.userId) } })}
<div class="card narrow" data-secret>
<p>${isMailed ? html`We send this link to ${emailText(link.email)}. You can pass it on yourself as well.` : html`Pass this link on to ${link.name}, ${emailText(link.email)}.`} ${isToProvider ? 'It leads to a sign-in at your identity provider once' : 'It sets the password once'}, until ${instant(link.expiresAt)}.</p>
<div class="notice warn"><p><strong>This link will not be shown again.</strong> ${isToProvider ? 'It proves whose account it is' : 'The first person who opens it chooses the password'}, so send it to nobody else.</p></div>
${copyField({ id: 'link', label: 'Link', text: url })}
<p class="actions"><a class="button primary" href="${userUrl(link.userId)}">I have copied it</a></p></div>`;
  return page(context, { title, main });
}

function mailedPage(
  context: SignedInContext,
  { link, isToProvider }: { readonly link: AccessLink; readonly isToProvider: boolean },
): View {
  const { name, email, userId, expiresAt } = link;
  const title = 'Invitation sent';
  const main = html`${head({ title, up: { name, href: userUrl(userId) } })}
<div class="card narrow"><p>We sent a link to ${emailText(email)}. ${isToProvider ? 'It leads to a sign-in at your identity provider' : 'It sets the password'} once, until ${instant(expiresAt)}.</p>
<p class="quiet">If the mail does not arrive, check the e-mail. You can correct it, send a new link or withdraw the invitation on the page of the user.</p>
<p class="actions"><a class="button primary" href="${userUrl(userId)}">See the user</a></p></div>`;
  return page(context, { title, main });
}
