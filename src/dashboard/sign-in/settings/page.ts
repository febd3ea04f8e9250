import { html } from '../../../html/html.ts';
import { getSignInSettings } from '../../../service/single-sign-on/settings.ts';
import { SIGN_IN_SETTINGS_URL } from '../../addresses.ts';
import type { SignedInContext } from '../../http/request-context.ts';
import type { View } from '../../http/view.ts';
import { page } from '../../markup/layout.ts';
import { doneNotice, problemSummary } from '../../markup/parts.ts';
import { organizationHead } from '../../organization/head.ts';
import { CONNECTION_LABELS, connectionSection } from './connection-section.ts';
import { DOMAIN_LABELS, domainsSection } from './domains-section.ts';
import { REQUIREMENT_LABELS, requirementSection } from './requirement-section.ts';
import type { Retry } from './retry.ts';
import { ROLES_LABELS, rolesSection } from './roles-section.ts';

const DONE = new Map([
  ['connection', 'The connection is saved. People whose e-mail is of a verified domain can sign in with it.'],
  ['removed', 'The connection is removed.'],
  ['domain', 'The domain is added. Publish its TXT record, then check it.'],
  ['verified', 'The domain is verified.'],
  ['domain-removed', 'The domain is removed.'],
  ['roles', 'The roles are saved. They apply from the next sign-in of each person on.'],
  ['required', 'Single sign-on is required. All sessions by password or passkey have ended.'],
  ['passwords', 'Passwords work again.'],
]);

const LABELS = { ...CONNECTION_LABELS, ...DOMAIN_LABELS, ...ROLES_LABELS, ...REQUIREMENT_LABELS };

export async function settingsPage(context: SignedInContext, retry: Retry = {}): Promise<View> {
  const { actor, dashboard, query, inTurn } = context;
  const settings = await inTurn(() => getSignInSettings(dashboard.db, actor));
  const { problem = null, notice } = retry;
  const done = context.method === 'POST' ? undefined : DONE.get(query.get('done') ?? '');
  const main = html`${organizationHead('sign-in', actor)}${doneNotice(notice ?? done)}${problemSummary(problem, LABELS)}
${connectionSection(context, settings, retry)}
${domainsSection(context, settings, retry)}
${settings.connection !== null && rolesSection(context, settings.connection, retry)}
${settings.connection !== null && requirementSection(context, settings, retry)}`;
  return page(context, { title: 'Sign-in', main, problem, formUrl: SIGN_IN_SETTINGS_URL });
}
