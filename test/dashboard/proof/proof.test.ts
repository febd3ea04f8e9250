import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { Role } from '../../../src/domain/people/role.ts';
import {
  Browser,
  expectToSay,
  type Fields,
  fillForm,
  keysIn,
  type Page,
  wordsOf,
} from '../../support/dashboard/dashboard.ts';
import { rowsOf, useDashboard, visit } from '../../support/dashboard/dashboard-server.ts';
import { createOneOfEach, formsAt } from '../../support/dashboard/every-form.ts';
import { formsOf } from '../../support/dashboard/forms.ts';
import { Authenticator, addPasskeyTo, optionsFrom, provePasskey } from '../../support/dashboard/passkeys.ts';
import { giveProof } from '../../support/dashboard/proof.ts';
import { addSecondFactor, ageProofs, codeAt, PASSWORD } from '../../support/data/accounts.ts';
import { giveKey } from '../../support/data/actors.ts';
import { giveIntegration } from '../../support/data/integrations.ts';
import { createTeam, type Team } from '../../support/data/team.ts';
import { addEndpoint } from '../../support/data/webhooks.ts';

const PUBLIC_URL = 'https://charter.example.org';
const dashboard = await useDashboard({ publicUrl: PUBLIC_URL });
const { db } = dashboard;

const OWN = '/profile/api-keys';
const FACTOR = '/profile/second-factor';
const user = ({ userId }: Actor) => `/people/users/${userId}`;

type Attempt = {
  readonly path: string;
  readonly fields?: Fields;
  /** The path of the page with the form. Default: `path`. */
  readonly at?: string;
  /** The code of the second factor, if the person has one. */
  readonly code?: string;
};
type Action = { readonly by: Role; attempt(team: Team, browser: Browser): Promise<Attempt> };

/**
 * One action for each kind of form that can wait for a proof, for example with lists, with a secret to show, for another person,
 * or with a code.
 */
const ACTIONS = {
  'create a key': {
    by: 'member',
    attempt: async () => ({ at: `${OWN}/new`, path: OWN, fields: { name: 'Fresh' } }),
  },
  'move a key': {
    by: 'manager',
    attempt: async ({ administrator, manager }) => {
      await giveIntegration(db, administrator);
      return { path: `${OWN}/${(await giveKey(db, manager)).id}/move` };
    },
  },
  'turn off the second factor': {
    by: 'viewer',
    attempt: async ({ viewer }, browser) => ({
      at: FACTOR,
      path: `${FACTOR}/remove`,
      code: await turnOn(viewer, browser),
    }),
  },
  'add a passkey': {
    by: 'viewer',
    attempt: async (_, browser) => {
      const path = '/profile/passkeys/new';
      const options = await optionsFrom(browser, await browser.get(path));
      return { path, fields: { name: 'Second', credential: new Authenticator(PUBLIC_URL).create(options) } };
    },
  },
  'make a reset link': {
    by: 'manager',
    attempt: async ({ member }) => ({ at: user(member), path: `${user(member)}/link` }),
  },
  'change the notices about API keys': {
    by: 'administrator',
    attempt: async () => ({
      at: '/organization',
      path: '/organization/unused-keys',
      fields: { ends_unused_after_days: '200' },
    }),
  },
  'rotate the secret of a webhook endpoint': {
    by: 'administrator',
    attempt: async ({ administrator }) => ({
      path: `/organization/webhooks/${(await addEndpoint(db, administrator)).id}/rotate`,
    }),
  },
} satisfies Record<string, Action>;

/** Turns on a second factor, and returns a code that has not been used yet. */
async function turnOn(actor: Actor, browser: Browser): Promise<string> {
  const { uri, token } = await addSecondFactor(db, actor, dashboard.now());
  browser.cookies.set('__Host-charter', token);
  return codeAt(uri, dashboard.now());
}

/** Fills in the form while the proof is fresh, and returns the form after the proof has become too old. */
async function prepare(name: keyof typeof ACTIONS, { withPasskey = false } = {}) {
  const action: Action = ACTIONS[name];
  const team = await createTeam(db);
  const by = team[action.by];
  const browser = await visit(dashboard, by);
  const authenticator = withPasskey ? await addPasskeyTo(browser, PUBLIC_URL) : null;
  const { path, fields = {}, at, code = '' } = await action.attempt(team, browser);
  const form = fillForm(await browser.form(at ?? path, path), fields);
  await ageProofs(db, by);
  return { browser, path, form, code, authenticator };
}

/** Creates a person in a new team, with a session whose proof is eleven minutes old. */
async function withOldProof(role: Role) {
  const person = (await createTeam(db))[role];
  const browser = await visit(dashboard, person);
  await ageProofs(db, person);
  return { person, browser };
}

/** Returns whether the page contains none of the secrets that the actions show. */
const isWithoutSecrets = (page: Page) =>
  keysIn(page).length === 0 &&
  !/whsec_|otpauth:|\/welcome\/|(?<![\w-])[0-9a-z]{4}(-[0-9a-z]{4}){3}(?![\w-])/.test(page.text);

/** Returns the names of the tables with rows that the work changes. */
async function changedBy(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await rowsOf(db)).map((each) => JSON.stringify(each));
  await work();
  const after = (await rowsOf(db)).map((each) => JSON.stringify(each));
  return after.filter((each, i) => each !== before[i]).map((each) => JSON.parse(each).name);
}

const CASES = Object.keys(ACTIONS).filter((name): name is keyof typeof ACTIONS => name in ACTIONS);

test.each(CASES)('%s: refused after eleven minutes, and done after a proof', async (name) => {
  // The attack: using a session that was left open or stolen.
  const { browser, path, form, code } = await prepare(name);
  const asked: Page[] = [];
  expect(await changedBy(async () => asked.push(await browser.post(path, form)))).toEqual([]);
  const changed = await changedBy(async () =>
    asked.push(await giveProof(browser, asked[0], { password: 'wrong', code })),
  );
  expect([asked.map(({ status }) => status), changed]).toEqual([[403, 422], ['audit_events']]);
  expect(asked.every(isWithoutSecrets)).toBe(true);
  const done = await changedBy(async () => asked.push(await giveProof(browser, asked[1], { code })));
  expect([200, 303]).toContain(asked[2]?.status);
  expect(done).toEqual(expect.arrayContaining(['sessions', 'audit_events']));
});

test.each(['create a key', 'add a passkey'] as const)('%s: done after a proof with a passkey', async (name) => {
  const { browser, path, form, authenticator } = await prepare(name, { withPasskey: true });
  const asked = await browser.post(path, form);
  expect(asked.status).toBe(403);
  const done = await changedBy(async () => {
    const { status } = await provePasskey(browser, asked, authenticator);
    expect([200, 303]).toContain(status);
  });
  expect(done).toEqual(expect.arrayContaining(['sessions', 'audit_events']));
});

/** The forms that need no proof, by reason. */
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
  'it searches or filters': [
    '/people/users',
    '/organization/api-keys',
    '/organization/api-keys/requests',
    '/organization/api-keys/requests/list',
    '/profile/api-keys/:keyId/requests',
    '/people/users/:userId/api-keys/:keyId/requests',
    '/organization/integrations/:integrationId/api-keys/:keyId/requests',
    '/organization/audit-log',
  ],
  'it sends events where they are sent already, or not for a while': [
    '/organization/webhooks/:endpointId/disable',
    '/organization/webhooks/:endpointId/enable',
    '/organization/webhooks/:endpointId/test',
    '/organization/webhooks/:endpointId/resend',
    '/organization/webhooks/:endpointId/deliveries/:messageId/resend',
  ],
};

test('every form of the dashboard asks for a proof and changes nothing, or is known to need none', async () => {
  // The risk: a new form changes a secret, a role or the sign-in without a proof.
  const team = await createTeam(db);
  const { administrator } = team;
  const browser = await visit(dashboard, administrator);
  const at = await createOneOfEach(db, { ...team, scope: administrator.scope });
  const patterns = dashboard.paths.filter((path) => !path.startsWith('/assets'));
  const forms = await formsAt(browser, patterns.map(at));
  const form_token = await browser.formToken();
  const unproven = Object.values(UNPROVEN).flat();
  await ageProofs(db, administrator);
  const before = await rowsOf(db);
  for (const pattern of patterns.filter((each) => !unproven.includes(each))) {
    const response = await browser.post(at(pattern), forms.get(at(pattern)) ?? { form_token });
    if (response.status === 405) continue;
    expect([pattern, response.status, wordsOf(response)]).toEqual([
      pattern,
      403,
      expect.stringMatching(/Confirm that it is you You are about to [a-z]/),
    ]);
    expect([pattern, isWithoutSecrets(response)]).toEqual([pattern, true]);
  }
  expect(await rowsOf(db)).toEqual(before);
  for (const path of unproven.filter((each) => each !== '/sign-out')) {
    const response = await browser.post(path, { form_token });
    expect([path, response.status !== 405, wordsOf(response).includes('Confirm that it is you')]).toEqual([
      path,
      true,
      false,
    ]);
  }
});

test('the page says what the proof is for, and names the user, the key, the integration or the endpoint', async () => {
  const { administrator, manager, member } = await createTeam(db);
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
  expect(await asked(`/organization/integrations/${integration.id}/suspend`)).toBe(
    `suspend the integration “${integration.name}”`,
  );
  expect(await asked(`/organization/webhooks/${endpoint.id}/rotate`)).toBe(
    `rotate the secret of the webhook endpoint “${new URL(endpoint.url).host}”`,
  );
  expect(await asked('/organization/audit-log.csv')).toBe('export the audit log');
  // The attack: learning the name of another organization's key, or of a user whom the person may not see.
  const { administrator: stranger } = await createTeam(db);
  const theirs = await giveKey(db, stranger, { name: 'Secret plan' });
  expect(await asked(`${user(stranger)}/api-keys/${theirs.id}/revoke`)).toBe('revoke the API key');
  const [other, theirPath] = [await visit(dashboard, member), `${user(manager)}/role`];
  await ageProofs(db, member);
  const refused = await other.post(theirPath, { form_token: await other.formToken(), role: 'viewer' });
  expect([refused.status, refused.text.includes('You are about to')]).toEqual([403, false]);
});

test('after a wrong proof, the page asks again for the same action', async () => {
  const { administrator } = await createTeam(db);
  const browser = await visit(dashboard, administrator);
  const path = `${OWN}/${(await giveKey(db, administrator, { name: 'Billing' })).id}/revoke`;
  await ageProofs(db, administrator);
  const again = await giveProof(browser, await browser.submit(path), { password: 'wrong' });
  expectToSay(again, 422, 'revoke the API key “Billing”');
});

test('the export of the audit log needs a proof, and then leads back to the log with its filters', async () => {
  const { browser } = await withOldProof('administrator');
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
  const { browser, person: member } = await withOldProof('member');
  const create = async (name: string) => browser.submit(`${OWN}/new`, { name }, OWN);
  expect(keysIn(await giveProof(browser, await create('First')))).toHaveLength(1);
  expect(keysIn(await create('Second'))).toHaveLength(1);
  await ageProofs(db, member, 9);
  expect(keysIn(await create('Third'))).toHaveLength(1);
  await ageProofs(db, member, 1);
  expect((await create('Fourth')).status).toBe(403);
});

test('the page keeps what was typed, mistakes included, and a reload after the proof makes no second key', async () => {
  const { browser, person: member } = await withOldProof('member');
  const asked = await browser.submit(`${OWN}/new`, { name: ' ', expiry: '30' }, OWN);
  const corrected = await giveProof(browser, asked);
  expectToSay(corrected, 422, 'Name must not be blank.');
  expect(corrected.text).toContain('<option value="30" selected>');
  await ageProofs(db, member);
  const again = await browser.submit(`${OWN}/new`, { name: 'Once' }, OWN);
  expect(again.text).not.toContain('Once');
  expect(keysIn(await giveProof(browser, again))).toHaveLength(1);
  const repeated = await giveProof(browser, again);
  expect([repeated.status, keysIn(repeated)]).toEqual([409, []]);
});

test('a form that waits fits only the page and the session for which it was sent', async () => {
  // The attack: changing a sealed form, or sending it as another person or from another page.
  const { member, administrator } = await createTeam(db);
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
  const both = fillForm(form, { proof_password: PASSWORD, name: 'Another' });
  expect((await browser.post(OWN, both)).status).toBe(422);
});

test('a new password that waits for a proof is not in the page, and is set in no other session', async () => {
  // The attack: somebody else gives the proof in another browser, and sends the password that the member has typed.
  const CHOSEN = 'seven otters juggle 93 lanterns';
  const { member, administrator } = await createTeam(db);
  const [browser, again, other] = [
    await visit(dashboard, member),
    await visit(dashboard, member),
    await visit(dashboard, administrator),
  ];
  await ageProofs(db, member);
  const asked = await browser.submit('/profile/password', { password: CHOSEN });
  expect(asked.text).not.toContain('otters');
  const form = formsOf(asked.text).find(({ fields }) => fields.some(([name]) => name === 'proof_password'));
  const sealed_form = new Map(form?.fields).get('sealed_form');
  for (const visitor of [again, other]) {
    const form_token = await visitor.formToken();
    const refused = await visitor.post('/profile/password', { form_token, sealed_form, proof_password: PASSWORD });
    expectToSay(refused, 403, 'This form is out of date');
  }
  for (const { email } of [member, administrator])
    expect((await new Browser(dashboard.url).signIn(email, CHOSEN)).status).not.toBe(303);
  expect((await giveProof(browser, asked)).status).toBe(303);
  expect((await new Browser(dashboard.url).signIn(member.email, CHOSEN)).status).toBe(303);
});

test('a form of 10 KiB can wait for a proof, and a larger one is refused', async () => {
  const { browser } = await withOldProof('administrator');
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
  const { browser, person: member } = await withOldProof('member');
  const asked = await browser.submit(FACTOR);
  expect(asked.text).not.toMatch(/proof_code|data-passkey/);
  const code = await turnOn(member, browser);
  await ageProofs(db, member);
  const both = await browser.submit(FACTOR, {}, `${FACTOR}/remove`);
  expect([both.text.includes('proof_code'), (await giveProof(browser, both)).status]).toEqual([true, 422]);
  expect((await giveProof(browser, both, { code })).headers['location']).toBe('/profile?done=factor-off');
});
