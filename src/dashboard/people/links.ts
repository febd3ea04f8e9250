import { type AccessLinkKind, linkUrl } from '../../domain/access-link.ts';
import { invalidField } from '../../domain/errors.ts';
import { makeLink } from '../../service/access-links.ts';
import { linkMail } from '../../service/link-mail.ts';
import type { AccessLink } from '../../service/make-link.ts';
import { inviteUser } from '../../service/people.ts';
import type { Answer } from '../http/answer.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { newOnceId, once } from '../http/send-once.ts';
import type { SignedIn } from '../http/visit.ts';
import { page } from '../markup/layout.ts';
import * as pages from './link-pages.ts';
import { idOf, rolesToGive, showUser } from './user.ts';

type Typed = { name: string; email: string; role: string };

const TO_USERS = { name: 'See the users', href: '/people/users' };

export function invitePage(visit: SignedIn, problem: Problem | null, typed?: Typed): Answer {
  const { actor, formToken } = visit;
  const main = pages.invite({
    ...{ formToken, problem, onceId: newOnceId(visit), roles: rolesToGive(actor.role) },
    typed: typed ?? { name: '', email: '', role: 'member' },
  });
  return page(visit, { title: 'Invite a user', status: problem?.status ?? 200, main });
}

export async function invite(visit: SignedIn, form: Form<'name' | 'email' | 'role' | 'once'>): Promise<Answer> {
  const typed = { name: form.text('name'), email: form.text('email'), role: form.text('role') };
  const sent = { onceId: form.text('once'), made: 'invitation', link: TO_USERS } as const;
  return orAgain(
    () =>
      once(visit, sent, async (formId) => {
        const invitation = { ...typed, formId, now: visit.now };
        return linkPage(visit, await inviteUser(visit.dashboard.db, visit.actor, invitation));
      }),
    async (problem) => invitePage(visit, problem, typed),
  );
}

export async function sendLink(visit: SignedIn, form: Form<'kind' | 'once'>): Promise<Answer> {
  const kind = readKind(form.text('kind'));
  const userId = idOf(visit);
  const link = { name: 'See the user', href: `/people/users/${userId}` };
  const sent = { onceId: form.text('once'), made: 'link', link } as const;
  return orAgain(
    () =>
      once(visit, sent, async (formId) => {
        const order = { userId, kind, formId, now: visit.now };
        return linkPage(visit, await makeLink(visit.dashboard.db, visit.actor, order));
      }),
    (problem) => showUser(visit, problem),
  );
}

function readKind(text: string): AccessLinkKind {
  if (text === 'invitation' || text === 'password_reset') return text;
  throw invalidField('kind', 'must be invitation or password_reset.');
}

/** Shown once to whoever made it, and mailed to the user where mail can be sent. */
function linkPage(visit: SignedIn, link: AccessLink): Answer {
  const { dashboard, actor, origin } = visit;
  const { outbox, publicUrl } = dashboard;
  const isMailed = publicUrl !== undefined && outbox.canSend;
  const url = linkUrl(publicUrl ?? origin, link.token);
  if (isMailed) outbox.post(linkMail({ ...link, organizationName: actor.organizationName, url }));
  const title = link.kind === 'invitation' ? 'Invitation made' : 'Reset link made';
  return page(visit, { title, main: pages.linkMade({ link, url, isMailed, title }) });
}
