import { isRole } from '../../domain/role.ts';
import type { AuditRecord } from '../../service/audit-log.ts';
import { type Html, type HtmlValue, html } from '../markup/html.ts';
import { instant, permissionWords, ROLE_WORDS } from '../markup/words.ts';

type Detail = AuditRecord['detail'];
type Say = (text: string, detail: Detail) => HtmlValue;

const NOTHING: Say = () => false;
const nameThen: Say = (name) => `Named “${name}” then`;

/** By act and detail, as `recordAudit` is given them. What is not here is shown as it stands. */
const SAY: ReadonlyMap<string, Say> = new Map([
  ['key.created name', nameThen],
  ['key.created permissions', (text) => permissionWords(text.split(', '))],
  ['key.created expires', (text) => (text === 'never' ? 'Never expires' : html`Expires ${instantOf(text)}`)],
  ['key.rotated name', nameThen],
  ['key.rotated prefix', (text) => html`Replaced by <code class="prefix">${text}…</code>`],
  ['key.rotated successor', NOTHING],
  ['key.revoked name', nameThen],
  [
    'key.revoked why',
    (text) => (text === 'user deactivated' ? 'Because the user was deactivated' : `Because: ${text}`),
  ],
  ['key.renamed from', (text, { to }) => `From “${text}” to “${to}”`],
  ['key.renamed to', NOTHING],
  ['user.invited role', (text) => `As ${roleName(text)}`],
  ['user.invited link', () => 'With a new link'],
  ['user.role_changed before', (text, { after = '' }) => `From ${roleName(text)} to ${roleName(after)}`],
  ['user.role_changed after', NOTHING],
  ['user.reset_link_made by', (text) => `By ${text}`],
  ['user.signed_in second_factor', (text) => (text === 'authenticator' ? 'With the authenticator' : `With a ${text}`)],
  ['user.sign_in_failed step', (text) => `At the ${text}`],
  ['user.password_check_failed to', (text) => `To ${text}`],
  ['user.second_factor_removed before', (text) => `It was ${text}`],
  ['user.password_set by', (text) => (text === 'invitation link' ? 'By an invitation link' : `By a ${text}`)],
]);

/** What an event says beside its act, a line each, without what the key beside it says already. */
export function detailLines({ act, detail, keyName, keyPrefix }: AuditRecord): Html[] {
  const told = new Map([
    ['name', keyName],
    ['prefix', keyPrefix],
  ]);
  return Object.entries(detail)
    .filter(([name, text]) => told.get(name) !== text)
    .map(([name, text]) => (SAY.get(`${act} ${name}`) ?? asItStands(name))(text, detail))
    .filter((line) => line !== false)
    .map((line) => html`<span class="under breakable">${line}</span>`);
}

/** A policy's change is "before -> after". */
function asItStands(name: string): Say {
  const label = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
  return (text) => {
    const [before, after] = text.split(' -> ');
    return after === undefined ? `${label}: ${text}` : `${label}: from ${before} to ${after}`;
  };
}

function roleName(text: string): string {
  return isRole(text) ? ROLE_WORDS[text].name : text;
}

function instantOf(text: string): HtmlValue {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : instant(at);
}
