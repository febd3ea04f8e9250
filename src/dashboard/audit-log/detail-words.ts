import { isRole } from '../../domain/people/role.ts';
import { formatCount } from '../../domain/text.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { REPORTED } from '../../service/keys/report-keys.ts';
import type { AuditRecord } from '../../store/audit/audit.ts';
import { ACTIONS } from '../../store/audit/audit.ts';
import { UNUSED } from '../../store/keys/key-checks.ts';
import { CARRIED } from '../../store/organizations/organization-moves.ts';
import { emailText } from '../markup/parts.ts';
import { instant, permissionWords, ROLE_WORDS } from '../markup/words.ts';
import { DISABLED_WORDS } from '../webhooks/cells.ts';

type Detail = AuditRecord['detail'];
/** Returns the words for one entry of an event's detail, or `false` if the entry is not shown. */
type ToWords = (text: string, detail: Detail) => HtmlValue;

const NOTHING: ToWords = () => false;
const formerName: ToWords = (name) => `Its name was “${name}”`;

const WEBHOOK_ACTIONS = ACTIONS.filter((action) => action.startsWith('webhook.'));
/** The actions that remove a user. Afterwards, only the event contains the user's name. */
const REMOVALS = ['user.invitation_withdrawn', 'user.invitation_taken_back', 'user.removed'];
const eventTypeWords: ToWords = (text) => `For ${text}`;

const disabledReason: ToWords = (text) => (text === 'gone' || text === 'failing') && DISABLED_WORDS[text];

const REVOCATION_WORDS: ReadonlyMap<string, string> = new Map([
  ['user deactivated', 'Because the user was deactivated'],
  ['user removed', 'Because the user was removed'],
  [REPORTED, 'Because it was reported as leaked'],
  [UNUSED, 'Because it was not used'],
]);

/** The reasons why single sign-on refused a person, or why the provider did not prove who a person is. */
const NOT_ADMITTED_WORDS: ReadonlyMap<string, string> = new Map([
  ['no-email', 'The provider gave no verified e-mail'],
  ['foreign-domain', 'The e-mail is not of a verified domain'],
  ['no-account', 'Nobody has the e-mail'],
  ['other-session', 'It was for the session of somebody else'],
  ['no-time', 'The provider did not say when the person signed in'],
  ['not-anew', 'The provider did not let the person sign in anew'],
  ['other-person', 'The account belongs to another person at the provider'],
  ['deactivated', 'The account is deactivated'],
]);

/** Reasons from the provider are whole sentences and begin with a capital letter, so they are shown unchanged. */
const reasonWords: ToWords = (text) =>
  NOT_ADMITTED_WORDS.get(text) ?? (/^\p{Lu}/u.test(text) ? text : `Because ${text}`);

/**
 * The words for the entries of an event's detail. A key consists of the action and the name of the entry, as `recordAudit` gets
 * them. Entries without words here are shown unchanged.
 */
const WORDS: ReadonlyMap<string, ToWords> = new Map([
  ...CARRIED.map((action) => [`${action} during_move`, () => 'While the organization moved'] as const),
  ['key.created name', formerName],
  ['key.created permissions', (text) => permissionWords(text.split(', '))],
  ['key.created expires', (text) => (text === 'never' ? 'Never expires' : html`Expires ${instantOf(text)}`)],
  ['key.rotated name', formerName],
  ['key.rotated prefix', (text) => html`Replaced by <code class="prefix">${text}…</code>`],
  ['key.rotated successor', NOTHING],
  [
    'key.rotated expires',
    (text) => (text === 'never' ? 'Expiry renewed: never expires' : html`Expiry renewed: ${instantOf(text)}`),
  ],
  ['key.revoked name', formerName],
  ['key.revoked why', (text) => REVOCATION_WORDS.get(text) ?? `Because: ${text}`],
  ['key.revoked days', (text) => `Unused keys end after ${formatCount(Number(text), 'day')}`],
  ['key.renamed from', (text, { to }) => `From “${text}” to “${to}”`],
  ['key.renamed to', NOTHING],
  ['key.restricted before', (text) => `Allowed addresses before: ${withCommas(text)}`],
  ['key.restricted addresses', (text) => `Allowed addresses: ${withCommas(text)}`],
  ['key.created addresses', (text) => `Allowed addresses: ${withCommas(text)}`],
  ['key.rotated addresses', (text) => `Allowed addresses: ${withCommas(text)}`],
  ['key.moved to', (text) => `To ${text}`],
  ['key.moved from', (text) => `From ${text}`],
  ['key.moved before', formerName],
  ['integration.created role', (text) => `As ${roleName(text)}`],
  ['integration.created owner', (text) => html`Owner: ${emailText(text)}`],
  ['integration.owner_changed to', (text) => html`To ${emailText(text)}`],
  ['user.invited role', (text) => `As ${roleName(text)}`],
  ['user.invited link', () => 'With a new link'],
  ['user.email_changed from', (text, { to = '' }) => html`From ${emailText(text)} to ${emailText(to)}`],
  ['user.email_changed to', NOTHING],
  ...REMOVALS.flatMap((action): [string, ToWords][] => [
    [`${action} name`, (text, { email = '' }) => html`${text}, ${emailText(email)}`],
    [`${action} email`, NOTHING],
  ]),
  ['user.invitation_taken_back why', (text) => `Because ${text}`],
  ['user.role_changed before', (text, { after = '' }) => `From ${roleName(text)} to ${roleName(after)}`],
  ['user.role_changed after', NOTHING],
  ['user.reset_link_made by', (text) => `By ${text}`],
  ['user.signed_in second_factor', (text) => (text === 'authenticator' ? 'With the authenticator' : `With a ${text}`)],
  ['user.signed_in by', (text) => `By ${text}`],
  ['user.signed_in groups', () => 'The provider sent no groups, so the role stays as it is'],
  ['user.signed_out by', NOTHING],
  ['user.sign_in_failed step', (text) => `At the ${text}`],
  ['user.created_by_sso role', (text) => `As ${roleName(text)}`],
  ['user.created_by_sso by', NOTHING],
  ['user.role_changed by', NOTHING],
  ['sso.domain_verified by', (text) => `By ${text}`],
  ['user.signed_in passkey', (text) => `With the passkey “${text}”`],
  ['user.sign_in_failed passkey', (text) => `With the passkey “${text}”`],
  ['user.sign_in_failed email', (text) => html`The provider calls them ${emailText(text)}`],
  ['user.sign_in_failed why', reasonWords],
  ['user.passkey_added passkey', (text) => `“${text}”`],
  ['user.passkey_renamed from', (text, { to }) => `From “${text}” to “${to}”`],
  ['user.passkey_renamed to', NOTHING],
  ['user.passkey_removed passkey', (text) => `“${text}”`],
  ['user.proof_failed with', (text) => `With ${text}`],
  ['user.proof_failed why', reasonWords],
  ['user.session_ended device', (text) => text],
  ['user.session_ended ip', (text) => `Last seen from ${text}`],
  ['user.signed_out_everywhere sessions', (text) => `${formatCount(Number(text), 'other session')} ended`],
  ['user.password_check_failed to', (text) => `To ${text}`],
  ['user.second_factor_removed before', (text) => `It was ${text}`],
  ['user.second_factor_removed passkeys', (text) => `${formatCount(Number(text), 'passkey')} removed`],
  ...WEBHOOK_ACTIONS.flatMap((action): [string, ToWords][] => [
    [`${action} url`, (text) => text],
    [`${action} endpoint`, NOTHING],
    [`${action} event`, NOTHING],
  ]),
  ['webhook.created events', eventTypeWords],
  ['webhook.changed former url', (text) => `Its URL was ${text}`],
  ['webhook.disabled reason', disabledReason],
  ['webhook.test_sent type', NOTHING],
  ['user.password_set by', (text) => (text === 'invitation link' ? 'By an invitation link' : `By a ${text}`)],
]);

/**
 * Returns one line for each entry of the event's detail. Leaves out the key's name and prefix if the page already shows the same
 * ones.
 */
export function detailLines({ action, detail, keyName, keyPrefix }: AuditRecord): Html[] {
  const shown = new Map([
    ['name', keyName],
    ['prefix', keyPrefix],
  ]);
  return Object.entries(detail)
    .filter(([name, text]) => shown.get(name) !== text)
    .map(([name, text]) => (WORDS.get(`${action} ${name}`) ?? recordedWords(name))(text, detail))
    .filter((line) => line !== false)
    .map((line) => html`<span class="under breakable">${line}</span>`);
}

/** Returns words for a changed setting, which is recorded as "before -> after". */
function recordedWords(name: string): ToWords {
  const label = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
  return (text) => {
    const [before, after] = text.split(' -> ');
    return after === undefined ? `${label}: ${text}` : `${label}: from ${before} to ${after}`;
  };
}

/** Puts commas in place of the spaces between the items of a recorded list. */
function withCommas(text: string): string {
  return text.replaceAll(' ', ', ');
}

function roleName(text: string): string {
  return isRole(text) ? ROLE_WORDS[text].name : text;
}

function instantOf(text: string): HtmlValue {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : instant(at);
}
