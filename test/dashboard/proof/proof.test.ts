import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { Role } from '../../../src/domain/people/role.ts';
import { Authenticator } from '../../support/dashboard/authenticator.ts';
import { Browser, type Fields, filled, keysIn, type Page, wordsOf } from '../../support/dashboard/dashboard.ts';
import { rowsOf, useDashboard, visit } from '../../support/dashboard/dashboard-server.ts';
import { formsOf } from '../../support/dashboard/forms.ts';
import { addPasskeyTo, optionsFrom, provePasskey } from '../../support/dashboard/passkeys.ts';
import { giveProof } from '../../support/dashboard/proof.ts';
import { confirmationOf } from '../../support/dashboard/second-factor.ts';
import { addSecondFactor, ageProofs, codeAt, createAccount } from '../../support/data/accounts.ts';
import { createScope, giveKey } from '../../support/data/actors.ts';
import { encryptedSecret } from '../../support/data/encryption.ts';
import { giveIntegration } from '../../support/data/integrations.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { addEndpoint } from '../../support/data/webhooks.ts';

const PUBLIC_URL = 'https://charter.example.org';
const dashboard = await useDashboard({ publicUrl: PUBLIC_URL });
const { db } = dashboard;

/** The people of an organization, each with a password. */
type People = Readonly<Record<Role, Actor>>;

async function people(): Promise<People> {
  const scope = await createScope(db);
  const account = (role: Role) => createAccount(db, { scope, role });
  return {
    administrator: await account('administrator'),
    manager: await account('manager'),
    member: await account('member'),
    viewer: await account('viewer'),
  };
}

type Attempt = {
  readonly path: string;
  readonly fields?: Fields;
  /** The page with its form, if it is another one. */
  readonly at?: string;
  /** Of the second factor, if the action needs one. */
  readonly code?: string;
};
type Action = {
  readonly roles: readonly Role[];
  attempt(of: People, by: Actor, browser: Browser): Promise<Attempt>;
};

const EVERYBODY: readonly Role[] = ['administrator', 'manager', 'member', 'viewer'];
const KEY_MAKERS: readonly Role[] = ['administrator', 'manager', 'member'];
const MANAGERS: readonly Role[] = ['administrator', 'manager'];
const ADMINISTRATORS: readonly Role[] = ['administrator'];
const OWN = '/profile/api-keys';
const FACTOR = '/profile/second-factor';
const user = ({ userId }: Actor) => `/people/users/${userId}`;
const integrationUrl = ({ id }: { readonly id: string }) => `/organization/integrations/${id}`;

async function makeInvited({ userId }: Actor): Promise<void> {
  await db.prisma.user.updateMany({ where: { id: userId }, data: { hasAccepted: false, passwordHash: null } });
}

/** Turns on a second factor, and returns a code that was not used yet. */
async function turnOn(actor: Actor, browser: Browser): Promise<string> {
  const { uri, token } = await addSecondFactor(db, actor, dashboard.now());
  browser.cookies.set('__Host-charter', token);
  return codeAt(uri, dashboard.now());
}

/** What needs a proof of the last ten minutes: each kind of form, and each that shows a secret. */
const ACTIONS: Record<string, Action> = {
  'create a key': {
    roles: KEY_MAKERS,
    attempt: async () => ({ at: `${OWN}/new`, path: OWN, fields: { name: 'Fresh' } }),
  },
  'rotate a key': {
    roles: KEY_MAKERS,
    attempt: async (_, by) => ({ path: `${OWN}/${(await giveKey(db, by)).id}/rotate` }),
  },
  'revoke a key': {
    roles: KEY_MAKERS,
    attempt: async (_, by) => ({ path: `${OWN}/${(await giveKey(db, by)).id}/revoke` }),
  },
  'restrict a key, or lift a restriction': {
    roles: KEY_MAKERS,
    attempt: async (_, by) => ({
      path: `${OWN}/${(await giveKey(db, by)).id}/restrict`,
      fields: { requests_per_second: '5' },
    }),
  },
  'move a key': {
    roles: MANAGERS,
    attempt: async ({ administrator }, by) => {
      await giveIntegration(db, administrator);
      return { path: `${OWN}/${(await giveKey(db, by)).id}/move` };
    },
  },
  'create an integration, which has a role': {
    roles: MANAGERS,
    attempt: async () => ({ path: '/organization/integrations/new', fields: { name: crypto.randomUUID() } }),
  },
  'change one’s password': {
    roles: EVERYBODY,
    attempt: async () => ({ path: '/profile/password', fields: { password: 'seven otters juggle 93 lanterns' } }),
  },
  'set up a second factor': { roles: EVERYBODY, attempt: async () => ({ path: FACTOR }) },
  'turn on a second factor': {
    roles: EVERYBODY,
    attempt: (_, _by, browser) => confirmationOf(browser, dashboard.now()),
  },
  'turn off the second factor': {
    roles: EVERYBODY,
    attempt: async (_, by, browser) => ({
      at: FACTOR,
      path: `${FACTOR}/remove`,
      code: await turnOn(by, browser),
    }),
  },
  'make recovery codes': {
    roles: EVERYBODY,
    attempt: async (_, by, browser) => ({ path: `${FACTOR}/recovery-codes`, code: await turnOn(by, browser) }),
  },
  'add a passkey': {
    roles: EVERYBODY,
    attempt: async (_, _by, browser) => {
      const path = '/profile/passkeys/new';
      const options = await optionsFrom(browser, await browser.get(path));
      return { path, fields: { name: 'Second', credential: new Authenticator(PUBLIC_URL).create(options) } };
    },
  },
  'remove a passkey': {
    roles: EVERYBODY,
    attempt: async (_, by, browser) => {
      await addPasskeyTo(browser, PUBLIC_URL);
      const { id } = await db.prisma.passkey.findFirstOrThrow({ where: { userId: by.userId } });
      return { at: `/profile/passkeys/${id}`, path: `/profile/passkeys/${id}/remove` };
    },
  },
  'change a role': {
    roles: MANAGERS,
    attempt: async ({ viewer }) => ({ at: user(viewer), path: `${user(viewer)}/role`, fields: { role: 'member' } }),
  },
  'invite somebody': {
    roles: MANAGERS,
    attempt: async () => ({
      path: '/people/users/invite',
      fields: { name: 'Noor', email: `${crypto.randomUUID()}@example.test`, role: 'viewer' },
    }),
  },
  'correct the e-mail of an invitation': {
    roles: MANAGERS,
    attempt: async ({ member }) => {
      await makeInvited(member);
      return { path: `${user(member)}/email`, fields: { email: `${crypto.randomUUID()}@example.test` } };
    },
  },
  'make a reset link': {
    roles: MANAGERS,
    attempt: async ({ member }) => ({ at: user(member), path: `${user(member)}/link` }),
  },
  'remove the second factor of another person': {
    roles: MANAGERS,
    attempt: async ({ member }) => {
      const totp = { totpSecret: encryptedSecret(member), totpSince: new Date() };
      await db.prisma.user.updateMany({ where: { id: member.userId }, data: totp });
      return { path: `${user(member)}/second-factor` };
    },
  },
  'connect single sign-on': {
    roles: ADMINISTRATORS,
    attempt: async () => ({
      at: '/organization/sign-in',
      path: '/organization/sign-in/domains',
      fields: { domain: `d${crypto.randomUUID().slice(0, 8)}.example` },
    }),
  },
  'add a webhook endpoint, whose secret is shown': {
    roles: ADMINISTRATORS,
    attempt: async () => ({
      path: '/organization/webhooks/new',
      fields: { url: 'https://example.org/hook', event_types: 'parent_program.created' },
    }),
  },
  'rotate the secret of a webhook endpoint': {
    roles: ADMINISTRATORS,
    attempt: async ({ administrator }) => ({
      path: `/organization/webhooks/${(await addEndpoint(db, administrator)).id}/rotate`,
    }),
  },
  'change the policy for keys': {
    roles: ADMINISTRATORS,
    attempt: async () => ({ path: '/organization', fields: { max_key_life_days: '30' } }),
  },
};

/** The form as somebody fills it in while the proof is fresh. */
async function prepare(name: string, role: Role, { withPasskey = false } = {}) {
  const action = ACTIONS[name];
  if (action === undefined) throw new Error(`There is no action ${name}.`);
  const team = await people();
  const by = team[role];
  const browser = await visit(dashboard, by);
  const authenticator = withPasskey ? await addPasskeyTo(browser, PUBLIC_URL) : null;
  const { path, fields = {}, at, code = '' } = await action.attempt(team, by, browser);
  const form = path === `${FACTOR}/confirm` ? fields : filled(await browser.form(at ?? path, path), fields);
  await ageProofs(db, by);
  return { browser, path, form, code, authenticator };
}

/** Whether the page has none of the secrets that the actions show. */
const isWithoutSecrets = (page: Page) =>
  keysIn(page).length === 0 &&
  !/whsec_|otpauth:|\/welcome\/|(?<![\w-])[0-9a-z]{4}(-[0-9a-z]{4}){3}(?![\w-])/.test(page.text);

/** The tables with rows that the work changes. */
async function changedBy(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await rowsOf(db)).map((each) => JSON.stringify(each));
  await work();
  const after = (await rowsOf(db)).map((each) => JSON.stringify(each));
  return after.filter((each, i) => each !== before[i]).map((each) => JSON.parse(each).name);
}

/** Each action with the role that may do the least. */
const CASES = Object.entries(ACTIONS).map(([name, { roles }]) => [name, roles.at(-1) ?? 'viewer'] as const);

test.each(CASES)('%s, as %s: refused after eleven minutes, and made after a proof', async (name, role) => {
  // The attack: a session that was left open or stolen.
  const { browser, path, form, code } = await prepare(name, role);
  const asked: Page[] = [];
  expect(await changedBy(async () => asked.push(await browser.post(path, form)))).toEqual([]);
  const [page] = asked;
  expect([page?.status, wordsOf(page ?? { text: '' })]).toEqual([
    403,
    expect.stringMatching(/Confirm that it is you You are about to [a-z]/),
  ]);
  expect(asked.every(isWithoutSecrets)).toBe(true);
  const changed = await changedBy(async () => asked.push(await giveProof(browser, page, { password: 'wrong', code })));
  expect([asked[1]?.status, changed, asked.every(isWithoutSecrets)]).toEqual([422, ['audit_events'], true]);
  const made = await changedBy(async () => asked.push(await giveProof(browser, asked[1], { code })));
  expect([200, 303]).toContain(asked[2]?.status);
  // The set-up of a second factor is recorded when it is confirmed.
  expect(made).toEqual(
    expect.arrayContaining(['sessions', name === 'set up a second factor' ? 'users' : 'audit_events']),
  );
});

const ONE_ROLE_EACH = Object.entries(ACTIONS).map(([name, { roles }]) => [name, roles[0] ?? 'viewer'] as const);

test.each(ONE_ROLE_EACH)('%s: made after a proof with a passkey', async (name, role) => {
  const { browser, path, form, authenticator } = await prepare(name, role, { withPasskey: true });
  const asked = await browser.post(path, form);
  expect(asked.status).toBe(403);
  const made = await changedBy(async () => {
    const { status } = await provePasskey(browser, asked, authenticator);
    expect([200, 303]).toContain(status);
  });
  expect(made).toEqual(
    expect.arrayContaining(['sessions', name === 'set up a second factor' ? 'users' : 'audit_events']),
  );
});

/** The forms that need no proof, by the reason. */
const UNPROVEN: Readonly<Record<string, readonly string[]>> = {
  'nobody is signed in': [
    '/',
    '/sign-in',
    '/sign-in/second-factor',
    '/sign-in/passkey',
    '/sign-in/passkey/options',
    '/forgotten-password',
    '/report-key',
    '/welcome/:token',
    '/welcome/:token/single-sign-on',
    '/single-sign-on/:organizationId/confirm/:token',
    '/single-sign-on/:organizationId/logout',
    '/single-sign-on/:organizationId/start',
  ],
  'it belongs to a proof, or to a form that needs one': [
    '/profile/proof/options',
    '/profile/proof/provider',
    '/profile/passkeys/options',
  ],
  'it ends sessions': ['/sign-out', '/profile/sessions', '/profile/sessions/sign-out-everywhere'],
  'it changes a name or what a page shows': [
    '/profile/notices/dismiss',
    '/profile/passkeys/:passkeyId',
    '/profile/api-keys/:keyId/rename',
    '/people/users/:userId/api-keys/:keyId/rename',
    '/organization/integrations/:integrationId/api-keys/:keyId/rename',
  ],
  'it searches or filters': ['/people/users', '/organization/api-keys', '/organization/audit-log'],
  'it sends events where they are sent already, or not for a while': [
    '/organization/webhooks/:endpointId/disable',
    '/organization/webhooks/:endpointId/enable',
    '/organization/webhooks/:endpointId/test',
    '/organization/webhooks/:endpointId/deliveries/:messageId/resend',
  ],
};

test('every form of the dashboard asks for a proof, or is known to need none', async () => {
  // The risk: a new form of a secret, a role or the sign-in without a proof.
  const team = await people();
  const browser = await visit(dashboard, team.administrator);
  await ageProofs(db, team.administrator);
  const form_token = await browser.formToken();
  const unproven = ['/sign-out'];
  for (const path of new Set(dashboard.paths)) {
    if (unproven.includes(path)) continue;
    const response = await browser.post(path, { form_token });
    const asks = wordsOf(response).includes('Confirm that it is you');
    if (response.status !== 405 && !asks) unproven.push(path);
  }
  const known = Object.values(UNPROVEN).flat();
  expect(unproven.filter((path) => !path.startsWith('/assets')).toSorted()).toEqual(known.toSorted());
});

test('the page says what the proof is for, with the name of what the path names', async () => {
  const { administrator, manager, member } = await people();
  const browser = await visit(dashboard, administrator);
  const { id: keyId } = await giveKey(db, administrator, { name: 'Billing' });
  const integration = await giveIntegration(db, administrator);
  const endpoint = await addEndpoint(db, administrator);
  await ageProofs(db, administrator);
  const asked = async (path: string) => {
    const { text } = await browser.post(path, { form_token: await browser.formToken() });
    return /You are about to (.*?)\. This needs/.exec(wordsOf({ text }))?.[1];
  };
  expect(await asked(OWN)).toBe('create an API key');
  expect(await asked(`${OWN}/${keyId}/revoke`)).toBe('revoke the API key “Billing”');
  expect(await asked(`${user(member)}/role`)).toBe(`change the role of the user “${member.name}”`);
  expect(await asked(`${integrationUrl(integration)}/suspend`)).toBe(`suspend the integration “${integration.name}”`);
  expect(await asked(`/organization/webhooks/${endpoint.id}/rotate`)).toBe(
    `rotate the secret of the webhook endpoint “${new URL(endpoint.url).host}”`,
  );
  expect(await asked('/organization/audit-log.csv')).toBe('export the audit log');
  // The attack: the name of a key that one may not see, or of another organization.
  const { administrator: stranger } = await people();
  const theirs = await giveKey(db, stranger, { name: 'Secret plan' });
  expect(await asked(`${user(stranger)}/api-keys/${theirs.id}/revoke`)).toBe('revoke the API key');
  const [other, theirPath] = [await visit(dashboard, member), `${user(manager)}/role`];
  await ageProofs(db, member);
  const refused = await other.post(theirPath, { form_token: await other.formToken(), role: 'viewer' });
  expect([refused.status, refused.text.includes('You are about to')]).toEqual([403, false]);
});

test('a wrong proof is asked for again, for the same action', async () => {
  const { administrator } = await people();
  const browser = await visit(dashboard, administrator);
  const path = `${OWN}/${(await giveKey(db, administrator, { name: 'Billing' })).id}/revoke`;
  await ageProofs(db, administrator);
  const again = await giveProof(browser, await browser.submit(path), { password: 'wrong' });
  expect([again.status, wordsOf(again)]).toEqual([422, expect.stringContaining('revoke the API key “Billing”')]);
});

test('the export of the audit log needs a proof, and then leads back to the log with its filters', async () => {
  const { administrator } = await people();
  const browser = await visit(dashboard, administrator);
  await ageProofs(db, administrator);
  const path = '/organization/audit-log.csv?action=user.signed_in';
  for (const method of ['GET', 'HEAD']) expect((await browser.send(method, path)).status).toBe(403);
  const asked = await browser.get(path);
  expect(asked.text).not.toContain('by_email');
  const proven = await giveProof(browser, asked);
  expect([proven.status, proven.headers['location']]).toEqual([
    303,
    '/organization/audit-log?action=user.signed_in&done=proven',
  ]);
  expect((await browser.get(path)).headers['content-type']).toContain('text/csv');
});

test('one proof serves every form for ten minutes', async () => {
  const { member } = await people();
  const browser = await visit(dashboard, member);
  await ageProofs(db, member);
  const create = async (name: string) => browser.submit(`${OWN}/new`, { name }, OWN);
  expect(keysIn(await giveProof(browser, await create('First')))).toHaveLength(1);
  expect(keysIn(await create('Second'))).toHaveLength(1);
  await ageProofs(db, member, 9);
  expect(keysIn(await create('Third'))).toHaveLength(1);
  await ageProofs(db, member, 1);
  expect((await create('Fourth')).status).toBe(403);
});

test('the page keeps what was typed, mistakes included, and a reload after the proof makes no second key', async () => {
  const { member } = await people();
  const browser = await visit(dashboard, member);
  await ageProofs(db, member);
  const asked = await browser.submit(`${OWN}/new`, { name: ' ', expiry: '30' }, OWN);
  const corrected = await giveProof(browser, asked);
  expect([corrected.status, wordsOf(corrected)]).toEqual([422, expect.stringContaining('Name must not be blank.')]);
  expect(corrected.text).toContain('<option value="30" selected>');
  await ageProofs(db, member);
  const again = await browser.submit(`${OWN}/new`, { name: 'Once' }, OWN);
  expect(again.text).not.toContain('Once');
  expect(keysIn(await giveProof(browser, again))).toHaveLength(1);
  const repeated = await giveProof(browser, again);
  expect([repeated.status, keysIn(repeated)]).toEqual([409, []]);
});

const CHOSEN = 'seven otters juggle 93 lanterns';

test('a new password that waits for the proof is not in the page', async () => {
  const { member } = await people();
  const browser = await visit(dashboard, member);
  await ageProofs(db, member);
  const password = 'seven otters juggle 93 lanterns';
  const asked = await browser.submit('/profile/password', { password });
  expect(asked.text).not.toContain('otters');
  expect((await giveProof(browser, asked)).status).toBe(303);
  expect((await new Browser(dashboard.url).signIn(member.email, password)).status).toBe(303);
});

test('what waits fits only the page and the session for which it was sent', async () => {
  // The attack: the sealed form of one person or one page is sent by another one, or changed.
  const { member, administrator } = await people();
  const [browser, other] = [await visit(dashboard, member), await visit(dashboard, administrator)];
  for (const each of [member, administrator]) await ageProofs(db, each);
  const asked = await browser.submit(`${OWN}/new`, { name: 'Mine' }, OWN);
  const form = formsOf(asked.text).find(({ action }) => action === OWN);
  if (form === undefined) throw new Error('The page does not ask for a proof.');
  const sealed = new Map(form.fields).get('sealed_form') ?? '';
  const forged = Buffer.from(sealed, 'base64url');
  forged.writeUInt8(forged.readUInt8(40) ^ 1, 40);
  const attacks: readonly [Browser, string, string][] = [
    [other, OWN, sealed],
    [browser, '/profile/password', sealed],
    [browser, OWN, forged.toString('base64url')],
    [browser, OWN, 'nonsense'],
    [browser, OWN, ''],
  ];
  for (const [visitor, path, sealed_form] of attacks) {
    const form_token = await visitor.formToken();
    const response = await visitor.post(path, { form_token, sealed_form, proof_password: PASSWORD });
    expect([path, response.status, keysIn(response)]).toEqual([path, 403, []]);
    expect(wordsOf(response)).toContain('This form is out of date');
  }
  const both = filled(form, { proof_password: PASSWORD, name: 'Another' });
  expect((await browser.post(OWN, both)).status).toBe(422);
});

test('a new password that waits is set in no other session, and no other form of the same session takes it', async () => {
  // The attack: somebody at another browser proves who they are, and sends what the member has typed. It has no ID of a form.
  const { member, administrator } = await people();
  const [browser, again, other] = [
    await visit(dashboard, member),
    await visit(dashboard, member),
    await visit(dashboard, administrator),
  ];
  await ageProofs(db, member);
  const asked = await browser.submit('/profile/password', { password: CHOSEN });
  const form = formsOf(asked.text).find(({ fields }) => fields.some(([name]) => name === 'proof_password'));
  const sealed_form = new Map(form?.fields).get('sealed_form');
  for (const visitor of [again, other]) {
    const form_token = await visitor.formToken();
    const refused = await visitor.post('/profile/password', { form_token, sealed_form, proof_password: PASSWORD });
    expect([refused.status, wordsOf(refused)]).toEqual([403, expect.stringContaining('This form is out of date')]);
  }
  for (const { email } of [member, administrator])
    expect((await new Browser(dashboard.url).signIn(email, CHOSEN)).status).not.toBe(303);
  expect((await giveProof(browser, asked)).status).toBe(303);
});

test('a form of 10 KiB can wait, and a larger one is refused as ever', async () => {
  const { administrator } = await people();
  const browser = await visit(dashboard, administrator);
  await ageProofs(db, administrator);
  const path = '/organization/integrations/new';
  const send = (description: string) => browser.submit(path, { name: crypto.randomUUID(), description });
  const kept = await send('x'.repeat(9000));
  expect(kept.status).toBe(403);
  expect(wordsOf(await giveProof(browser, kept))).toContain(
    'Description must be at most 1000 characters long; it has 9000.',
  );
  expect((await send('x'.repeat(10_240))).status).toBe(413);
});

test('the page asks only for what the person has', async () => {
  const { member } = await people();
  const browser = await visit(dashboard, member);
  await ageProofs(db, member);
  const asked = await browser.submit(FACTOR);
  expect(asked.text).not.toMatch(/proof_code|data-passkey/);
  const code = await turnOn(member, browser);
  await ageProofs(db, member);
  const both = await browser.submit(FACTOR, {}, `${FACTOR}/remove`);
  expect([both.text.includes('proof_code'), (await giveProof(browser, both)).status]).toEqual([true, 422]);
  expect((await giveProof(browser, both, { code })).headers['location']).toBe('/profile?done=factor-off');
});
