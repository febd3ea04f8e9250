import { MAX_GROUP_ROLES, NEW_PEOPLE_ROLES } from '../../../domain/single-sign-on.ts';
import { type Html, html } from '../../../html/html.ts';
import type { SignInSettings } from '../../../service/single-sign-on/settings.ts';
import { ROLES_URL } from '../../addresses.ts';
import type { SignedInContext } from '../../http/request-context.ts';
import { field, postForm } from '../../markup/parts.ts';
import { ROLE_WORDS } from '../../markup/words.ts';
import type { Retry } from './retry.ts';

export const ROLES_LABELS = {
  new_people: 'New people',
  groups_claim: 'Claim with groups',
  group_roles: 'Roles by group',
};

export function rolesSection(
  { formToken }: SignedInContext,
  { newPeopleRole, groupsClaim, groupRoles }: NonNullable<SignInSettings['connection']>,
  { roles: typed, problem }: Retry,
): Html {
  const errors = problem?.fields;
  const values = typed ?? {
    newPeople: newPeopleRole ?? '',
    groupsClaim,
    groupRoles: groupRoles.map(({ groupName, role }) => `${groupName} = ${role}`).join('\n'),
  };
  const options = [
    { value: '', name: 'Get no account: they must be invited' },
    ...NEW_PEOPLE_ROLES.map((role) => ({ value: role, name: `Become ${ROLE_WORDS[role].name.toLowerCase()}s` })),
  ];
  return html`<section class="card" aria-labelledby="roles"><h2 id="roles">New people and groups</h2>
${postForm(
  { action: ROLES_URL, formToken },
  html`${field(
    {
      name: 'new_people',
      label: ROLES_LABELS.new_people,
      hint: 'For people who sign in at your provider with an e-mail of a verified domain, but have no account here.',
      errors,
    },
    (attributes) =>
      html`<select ${attributes}>${options.map(({ value, name }) => html`<option value="${value}"${value === values.newPeople && html` selected`}>${name}</option>`)}</select>`,
  )}
${field(
  {
    name: 'groups_claim',
    label: ROLES_LABELS.groups_claim,
    hint: 'Such as groups. Leave it empty if roles do not follow groups.',
    errors,
  },
  (attributes) =>
    html`<input ${attributes} type="text" value="${values.groupsClaim}" maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false">`,
)}
${field(
  {
    name: 'group_roles',
    label: ROLES_LABELS.group_roles,
    hint: `One group in each line, at most ${MAX_GROUP_ROLES}, such as “Integration team = member”, with viewer, member or manager. The highest role counts; without any of the groups, it is that of new people. Administrators keep their role.`,
    errors,
  },
  (attributes) =>
    html`<textarea ${attributes} rows="4" maxlength="9000" autocapitalize="none" spellcheck="false">${values.groupRoles}</textarea>`,
)}
<div class="actions"><button class="button">Save roles</button></div>`,
)}</section>`;
}
