import { type AccessLinkKind, linkUrl } from '../../domain/access-link.ts';
import { invalidField } from '../../domain/errors.ts';
import { makeLink } from '../../service/access-links.ts';
import { linkMail } from '../../service/link-mail.ts';
import type { AccessLink } from '../../service/make-link.ts';
import { inviteUser } from '../../service/people.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { newOnceId, once } from '../http/send-once.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import * as pages from './link-pages.ts';
import { idOf, rolesToGive, showUser } from './user.ts';

type Typed = { name: string; email: string; role: string };

const TO_USERS = { name: 'See the users', href: '/people/users' };

export function invitePage(context: SignedInContext, problem: Problem | null, typed?: Typed): View {
  const { actor, formToken } = context;
  const main = pages.invite({
    ...{ formToken, problem, onceId: newOnceId(context), roles: rolesToGive(actor.role) },
    typed: typed ?? { name: '', email: '', role: 'member' },
  });
  return page(context, { title: 'Invite a user', status: problem?.status ?? 200, main });
}

export async function invite(context: SignedInContext, form: Form<'name' | 'email' | 'role' | 'once'>): Promise<View> {
  const typed = { name: form.text('name'), email: form.text('email'), role: form.text('role') };
  const sent = { onceId: form.text('once'), made: 'invitation', link: TO_USERS } as const;
  return orAgain(
    () =>
      once(context, sent, async (formId) => {
        const invitation = { ...typed, formId, now: context.now };
        return linkPage(context, await inviteUser(context.dashboard.db, context.actor, invitation));
      }),
    async (problem) => invitePage(context, problem, typed),
  );
}

export async function sendLink(context: SignedInContext, form: Form<'kind' | 'once'>): Promise<View> {
  const kind = readKind(form.text('kind'));
  const userId = idOf(context);
  const link = { name: 'See the user', href: `/people/users/${userId}` };
  const sent = { onceId: form.text('once'), made: 'link', link } as const;
  return orAgain(
    () =>
      once(context, sent, async (formId) => {
        const order = { userId, kind, formId, now: context.now };
        return linkPage(context, await makeLink(context.dashboard.db, context.actor, order));
      }),
    (problem) => showUser(context, problem),
  );
}

function readKind(text: string): AccessLinkKind {
  if (text === 'invitation' || text === 'password_reset') return text;
  throw invalidField('kind', 'must be invitation or password_reset.');
}

/** Shown once to whoever made it, and mailed to the user where mail can be sent. */
function linkPage(context: SignedInContext, link: AccessLink): View {
  const { dashboard, actor, origin } = context;
  const { outbox, publicUrl } = dashboard;
  const isMailed = publicUrl !== undefined && outbox.canSend;
  const url = linkUrl(publicUrl ?? origin, link.token);
  if (isMailed) outbox.post(linkMail({ ...link, organizationName: actor.organizationName, url }));
  const title = link.kind === 'invitation' ? 'Invitation made' : 'Reset link made';
  return page(context, { title, main: pages.linkMade({ link, url, isMailed, title }) });
}
