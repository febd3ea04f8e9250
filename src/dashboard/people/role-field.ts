import { mayManage, ROLES, type Role } from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import type { Problem } from '../http/problem.ts';
import { field } from '../markup/parts.ts';
import { ROLE_WORDS } from '../markup/words.ts';

type RoleFieldProps = {
  readonly actorRole: Role;
  readonly chosen: string;
  readonly problem: Problem | null;
  readonly followsGroups: boolean;
};

const FOLLOWS_GROUPS =
  'At each single sign-on, the role follows the groups at your identity provider, except that of an administrator.';

/** Offers the roles that the actor may give. */
export function roleField({ actorRole, chosen, problem, followsGroups }: RoleFieldProps): Html {
  const roles = ROLES.filter((role) => mayManage(actorRole, role));
  // In the options, the meanings would be cut off on a narrow screen.
  const lines = [
    ...roles.map((role) => html`<strong>${ROLE_WORDS[role].name}:</strong> ${ROLE_WORDS[role].meaning}`),
    ...(followsGroups ? [FOLLOWS_GROUPS] : []),
  ];
  const hint = html`${lines.map((line, i) => [i > 0 && html`<br>`, line])}`;
  return field(
    { name: 'role', label: 'Role', errors: problem?.fields, hint },
    (attributes) =>
      html`<select ${attributes}>${roles.map(
        (role) => html`<option value="${role}"${role === chosen && html` selected`}>${ROLE_WORDS[role].name}</option>`,
      )}</select>`,
  );
}
