import type { Role } from '../../domain/role.ts';
import type { AccessLink } from '../../service/make-link.ts';
import type { Problem } from '../http/errors.ts';
import { type Html, html } from '../markup/html.ts';
import { copyField, field, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { instant, ROLE_WORDS } from '../markup/words.ts';

const LABELS = { name: 'Name', email: 'E-mail', role: 'Role' };

export function invite({
  formToken,
  onceId,
  problem,
  roles,
  typed,
}: {
  formToken: string;
  onceId: string;
  problem: Problem | null;
  roles: readonly Role[];
  typed: { name: string; email: string; role: string };
}): Html {
  const errors = problem?.fields;
  return html`${head({ title: 'Invite a user', up: { name: 'Users', href: '/people/users' }, lead: 'They get a link with which they choose a password.' })}
${problemSummary(problem, LABELS)}
<div class="card narrow">${postForm(
    { action: '/people/users/invite', formToken },
    html`${hidden('once', onceId)}
${field({ name: 'name', label: LABELS.name, errors }, (attributes) => html`<input ${attributes} type="text" value="${typed.name}" maxlength="200" autocomplete="off" required>`)}
${field({ name: 'email', label: LABELS.email, errors }, (attributes) => html`<input ${attributes} type="email" value="${typed.email}" maxlength="254" autocomplete="off" required>`)}
${roleField({ roles, chosen: typed.role, errors })}
<div class="actions"><button class="button primary">Invite</button><a class="button plain" href="/people/users">Cancel</a></div>`,
  )}</div>`;
}

export function roleField({
  roles,
  chosen,
  errors,
}: {
  roles: readonly Role[];
  chosen: string;
  errors?: Problem['fields'] | undefined;
}): Html {
  return field(
    { name: 'role', label: LABELS.role, errors },
    (attributes) =>
      html`<select ${attributes}>${roles.map(
        (role) =>
          html`<option value="${role}"${role === chosen && html` selected`}>${ROLE_WORDS[role].name}: ${ROLE_WORDS[role].meaning}</option>`,
      )}</select>`,
  );
}

export function linkMade({
  link,
  url,
  isMailed,
  title,
}: {
  link: AccessLink;
  url: string;
  isMailed: boolean;
  title: string;
}): Html {
  return html`${head({ title, up: { name: link.name, href: `/people/users/${link.userId}` } })}
<div class="card narrow" data-secret>
<p>${isMailed ? `We send this link to ${link.email}. You can pass it on yourself as well.` : `Pass this link on to ${link.name}, ${link.email}.`} It sets the password once, until ${instant(link.expiresAt)}.</p>
<div class="notice warn"><p><strong>This link will not be shown again.</strong> Whoever opens it first chooses the password, so send it to nobody else.</p></div>
${copyField({ id: 'link', label: 'Link', text: url })}
<p class="actions"><a class="button primary" href="/people/users/${link.userId}">I have copied it</a></p></div>`;
}
