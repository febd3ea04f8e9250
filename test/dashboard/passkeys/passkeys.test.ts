import type { Actor } from '../../../src/domain/audit/actor.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { deactivateUser, reactivateUser } from '../../../src/service/people/change-user.ts';
import { deleteExpiredChallenges } from '../../../src/store/people/passkeys.ts';
import { Browser, expectToSay, isIn, type Page } from '../../support/dashboard/dashboard.ts';
import {
  browserOf,
  newBrowser,
  startDashboard,
  useDashboard,
  visit,
} from '../../support/dashboard/dashboard-server.ts';
import {
  Authenticator,
  addPasskeyTo,
  type Deviation,
  optionsFrom,
  provePasskey,
  sendCredential,
  signInWithPasskey,
} from '../../support/dashboard/passkeys.ts';
import { addSecondFactor, ageProofs, createAccount } from '../../support/data/accounts.ts';
import { times } from '../../support/data/actors.ts';

const ORIGIN = 'https://charter.example.org';
const EVIL = 'https://charter.example.org.evil.example';
const dashboard = await useDashboard({ publicUrl: ORIGIN });
const { db } = dashboard;
const NEW = '/profile/passkeys/new';

const visitor = () => newBrowser(dashboard);
const signedIn = (actor: Actor) => visit(dashboard, actor);

async function withPasskey(options: Parameters<typeof addPasskeyTo>[2] = {}) {
  const owner = await createAccount(db);
  const browser = await signedIn(owner);
  const authenticator = await addPasskeyTo(browser, ORIGIN, options);
  return { owner, browser, authenticator };
}

const rowOf = ({ userId }: Actor) => db.prisma.passkey.findFirstOrThrow({ where: { userId } });
const eventsOf = async ({ userId }: Actor) =>
  (await db.prisma.auditEvent.findMany({ where: { targetUserId: userId }, orderBy: { id: 'asc' } })).map(
    ({ action, detail }) => ({ action, detail }),
  );

async function expectRefused(browser: Browser, page: Page): Promise<void> {
  expectToSay(page, 422, 'The passkey was not accepted.');
  expect([page.setCookies.filter((each) => !each.includes('form')), await isIn(browser)]).toEqual([[], false]);
}

test('a passkey signs in without password and second factor, leads to the requested page, and is recorded', async () => {
  const owner = await createAccount(db);
  const browser = await signedIn(owner);
  const authenticator = await addPasskeyTo(browser, ORIGIN, { name: 'Blue key' });
  await addSecondFactor(db, owner, dashboard.now());
  const guest = visitor();
  const page = await guest.get('/sign-in?next=%2Fprofile%2Fsessions');
  const credential = authenticator.get(await optionsFrom(guest, page));
  const response = await sendCredential(guest, page, { credential });
  expect([response.status, response.headers['location'], await isIn(guest)]).toEqual([303, '/profile/sessions', true]);
  expect(await rowOf(owner)).toMatchObject({ counter: 2n, lastUsedAt: expect.any(Date) });
  expect(await eventsOf(owner)).toEqual([
    { action: 'user.passkey_added', detail: { passkey: 'Blue key' } },
    { action: 'user.second_factor_on', detail: {} },
    { action: 'user.signed_in', detail: { passkey: 'Blue key' } },
  ]);
});

test('the options name no account, ask for verification, and the user handle is random and the same for all passkeys', async () => {
  // The attack: learning from the sign-in page who has an account, or from a lost security key to whom it belongs.
  const { owner, browser, authenticator } = await withPasskey();
  const guest = visitor();
  const options = await optionsFrom(guest, await guest.get('/sign-in'));
  expect(options).toMatchObject({ rpId: 'charter.example.org', userVerification: 'required' });
  expect([options.allowCredentials ?? [], JSON.stringify(options).includes(owner.email)]).toEqual([[], false]);
  const creation = await optionsFrom(browser, await browser.get(NEW));
  expect(creation).toMatchObject({
    rp: { id: 'charter.example.org' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    excludeCredentials: [{ id: authenticator.credentialId }],
  });
  expect(creation.user.id).toBe(authenticator.userHandle);
  expect(Buffer.from(creation.user.id, 'base64url')).toHaveLength(32);
  const another = await withPasskey();
  expect(another.authenticator.userHandle).not.toBe(authenticator.userHandle);
});

/** Responses that no honest authenticator or browser sends. Sign-in and registration must refuse each of them. */
const FORGERIES: Record<string, Deviation> = {
  'from another origin': { origin: EVIL },
  'from the same host by HTTP': { origin: 'http://charter.example.org' },
  'from another port': { origin: `${ORIGIN}:8443` },
  'for another relying party': { rpId: 'evil.example' },
  'for the parent domain': { rpId: 'example.org' },
  'for a challenge of the attacker': { challenge: Buffer.alloc(32, 7).toString('base64url') },
  'without user verification': { isVerified: false },
  'without the user’s presence': { isPresent: false, isVerified: false },
  'from a frame of another site': { crossOrigin: true },
  'of another ceremony': { type: 'payment.get' },
  'with impossible backup flags': { isBackedUp: true },
};

/** FORGERIES, and the forgeries that only an existing passkey can send. */
const FORGED_USES: Record<string, Deviation> = {
  ...FORGERIES,
  'with a wrong signature': { isForged: true },
  'with the type of a registration': { type: 'webauthn.create' },
  'with the user handle of somebody else': { userHandle: Buffer.alloc(32, 9).toString('base64url') },
  'with a counter that went backwards': { counter: 1 },
  'with a counter that stands still': { counter: 5 },
  'with a counter of 0, though it counts': { counter: 0 },
  'of a passkey that became eligible for backups': { isBackupEligible: true },
};

test.each(Object.entries(FORGED_USES))('a sign-in %s is refused, and recorded', async (_, deviation) => {
  const { owner, authenticator } = await withPasskey({ counter: 5 });
  const browser = visitor();
  await expectRefused(browser, await signInWithPasskey(browser, authenticator, deviation));
  const failed = (await eventsOf(owner)).filter(({ action }) => action === 'user.sign_in_failed');
  expect(failed).toMatchObject([{ detail: { step: 'passkey' } }]);
  expect(await rowOf(owner)).toMatchObject({ counter: 5n, lastUsedAt: null });
});

/** The forgeries that are tried for a proof. A few suffice, because a proof is verified by the same code as a sign-in. */
const FORGED_PROOFS = [
  'from another origin',
  'without user verification',
  'with a wrong signature',
  'with a counter that stands still',
];

test.each(Object.entries(FORGED_USES).filter(([name]) => FORGED_PROOFS.includes(name)))(
  'a proof %s is refused, and extends nothing',
  async (_, deviation) => {
    // The attack: renewing the proof of a stolen session without the passkey.
    const { owner, browser, authenticator } = await withPasskey({ counter: 5 });
    await ageProofs(db, owner);
    const asked = await browser.submit('/profile/second-factor');
    const credential = authenticator.get(await optionsFrom(browser, asked), deviation);
    const response = await sendCredential(browser, asked, { credential });
    expectToSay(response, 422, 'The passkey was not accepted.');
    expect((await browser.submit('/profile/second-factor')).status).toBe(403);
  },
);

test.each(
  Object.entries({
    ...FORGERIES,
    'with the type of a sign-in': { type: 'webauthn.get' },
    'with a certificate, whose addresses we would have to follow': {
      format: 'packed',
      statement: new Map<string, unknown>([
        ['alg', -7],
        ['sig', new Uint8Array(70)],
        ['x5c', [new Uint8Array(500)]],
      ]),
    },
    'in an unknown format': { format: 'magic' },
  }),
)('a registration %s is refused', async (_, deviation) => {
  const owner = await createAccount(db);
  const browser = await signedIn(owner);
  const page = await browser.get(NEW);
  const credential = new Authenticator(ORIGIN).create(await optionsFrom(browser, page), deviation);
  const response = await sendCredential(browser, page, { credential, name: 'Laptop' });
  expectToSay(response, 409, 'The passkey was not added.');
  expect(await db.prisma.passkey.count({ where: { userId: owner.userId } })).toBe(0);
});

test('a challenge serves once, also for concurrent requests', async () => {
  // The attack: sending a recorded response again.
  const { authenticator } = await withPasskey({ counter: 0 });
  const browser = visitor();
  const page = await browser.get('/sign-in');
  const credential = authenticator.get(await optionsFrom(browser, page));
  const copies = await times(5, () => {
    const copy = new Browser(dashboard.url, { localAddress: browser.localAddress });
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    return sendCredential(copy, page, { credential });
  });
  expect(copies.filter(({ status }) => status === 303)).toHaveLength(1);
  await expectRefused(browser, await sendCredential(browser, page, { credential }));
});

test('a challenge serves only the browser and the purpose for which it was made, for ten minutes', async () => {
  // The attack: signing the victim’s browser in to the attacker’s account, or using a response for a proof to sign in.
  await using timed = await startDashboard({ databaseUrl: dashboard.databaseUrl, publicUrl: ORIGIN });
  const owner = await createAccount(timed.db);
  const browser = await browserOf(timed, owner);
  const authenticator = await addPasskeyTo(browser, ORIGIN);
  const [mine, theirs] = [new Browser(timed.url), new Browser(timed.url)];
  const [myPage, theirPage] = [await mine.get('/sign-in'), await theirs.get('/sign-in')];
  const options = await optionsFrom(mine, myPage);
  await expectRefused(theirs, await sendCredential(theirs, theirPage, { credential: authenticator.get(options) }));

  await ageProofs(timed.db, owner);
  const asked = await browser.submit('/profile/second-factor');
  const forSignIn = await optionsFrom(mine, myPage);
  const proof = await sendCredential(browser, asked, { credential: authenticator.get(forSignIn) });
  expect(proof.status).toBe(422);
  const forProof = await optionsFrom(browser, asked);
  await expectRefused(mine, await sendCredential(mine, myPage, { credential: authenticator.get(forProof) }));

  const old = await optionsFrom(mine, myPage);
  timed.passMinutes(10);
  await expectRefused(mine, await sendCredential(mine, myPage, { credential: authenticator.get(old) }));
  await deleteExpiredChallenges(timed.db, { now: timed.now() });
  expect(await timed.db.prisma.passkeyChallenge.count()).toBe(0);
  expect((await signInWithPasskey(mine, authenticator)).status).toBe(303);
});

test('the passkey of another person signs in to their account only, and proves nothing', async () => {
  // The attack: a person with a passkey claims another account, by user handle or by credential id.
  const [ours, theirs] = [await withPasskey(), await withPasskey()];
  for (const deviation of [
    { userHandle: theirs.authenticator.userHandle },
    { id: theirs.authenticator.credentialId, userHandle: theirs.authenticator.userHandle },
    { id: theirs.authenticator.credentialId },
    { id: Buffer.alloc(32, 3).toString('base64url') },
    { userHandle: null },
  ]) {
    const browser = visitor();
    await expectRefused(browser, await signInWithPasskey(browser, ours.authenticator, deviation));
  }
  await ageProofs(db, ours.owner);
  const asked = await ours.browser.submit('/profile/second-factor');
  expect((await provePasskey(ours.browser, asked, theirs.authenticator)).status).toBe(422);
  expect((await eventsOf(ours.owner)).at(-1)).toMatchObject({
    action: 'user.proof_failed',
    detail: { with: 'a passkey' },
  });
  expect((await provePasskey(ours.browser, asked, ours.authenticator)).status).toBe(200);
});

test('the credential of another person cannot be registered again', async () => {
  // The attack: registering somebody's public credential id, so that their sign-in opens the attacker's account.
  const { authenticator } = await withPasskey();
  const thief = await createAccount(db);
  const browser = await signedIn(thief);
  const page = await browser.get(NEW);
  const deviation = { id: authenticator.credentialId };
  const credential = new Authenticator(ORIGIN).create(await optionsFrom(browser, page), deviation);
  expect((await sendCredential(browser, page, { credential, name: 'Mine' })).status).toBe(409);
  const guest = visitor();
  expect((await signInWithPasskey(guest, authenticator)).status).toBe(303);
});

test('a copy of a passkey is found out by its counter, even if both are used at the same time', async () => {
  const { owner, authenticator } = await withPasskey({ counter: 5 });
  const [browser, other] = [visitor(), visitor()];
  const pages = [await browser.get('/sign-in'), await other.get('/sign-in')] as const;
  const credentials = [
    authenticator.get(await optionsFrom(browser, pages[0]), { counter: 6 }),
    authenticator.get(await optionsFrom(other, pages[1]), { counter: 6 }),
  ] as const;
  const responses = await Promise.all([
    sendCredential(browser, pages[0], { credential: credentials[0] }),
    sendCredential(other, pages[1], { credential: credentials[1] }),
  ]);
  expect(responses.map(({ status }) => status).toSorted()).toEqual([303, 422]);
  const failed = (await eventsOf(owner)).find(({ action }) => action === 'user.sign_in_failed');
  expect(failed?.detail).toMatchObject({ passkey: 'Laptop', why: expect.stringContaining('may have been copied') });
});

test('a passkey that is synced has a counter of 0, and may begin or cease to be backed up', async () => {
  const { owner, authenticator } = await withPasskey({ counter: 0, deviation: { isBackupEligible: true } });
  for (const isBackedUp of [true, true, false]) {
    const deviation = { isBackupEligible: true, isBackedUp };
    expect((await signInWithPasskey(visitor(), authenticator, deviation)).status).toBe(303);
    expect(await rowOf(owner)).toMatchObject({ counter: 0n, isBackedUp, isBackupEligible: true });
  }
});

test.each([
  '',
  'nonsense',
  '{}',
  '[]',
  'null',
  '{"id":"x","response":{}}',
  '{"id":1,"response":{"clientDataJSON":"e30"}}',
])('a response that is %j gets the page again', async (credential) => {
  const browser = visitor();
  await expectRefused(browser, await sendCredential(browser, await browser.get('/sign-in'), { credential }));
  const owner = await signedIn(await createAccount(db));
  const response = await sendCredential(owner, await owner.get(NEW), { credential, name: 'Laptop' });
  expect(response.status).toBe(409);
});

test('a deactivated person cannot sign in with a passkey, and can again after the reactivation', async () => {
  const administrator = await createAccount(db, { role: 'administrator' });
  const owner = await createAccount(db, { scope: administrator.scope });
  const browser = await signedIn(owner);
  const authenticator = await addPasskeyTo(browser, ORIGIN);
  orThrow(await deactivateUser(db, administrator, { userId: owner.userId }));
  expect(await isIn(browser)).toBe(false);
  const guest = visitor();
  await expectRefused(guest, await signInWithPasskey(guest, authenticator));
  orThrow(await reactivateUser(db, administrator, { userId: owner.userId }));
  expect((await signInWithPasskey(guest, authenticator)).status).toBe(303);
});

test('wrong passkeys and challenges are limited for each network', async () => {
  // The attack: a flood of responses, or of rows in the table of challenges.
  const { authenticator } = await withPasskey();
  const browser = visitor();
  const statuses: number[] = [];
  for (let i = 0; i < 12; i += 1)
    statuses.push((await signInWithPasskey(browser, authenticator, { isForged: true })).status);
  expect(statuses).toEqual([...Array(10).fill(422), 429, 429]);
  const [, url = ''] = /data-options="([^"]*)"/.exec((await browser.get('/sign-in')).text) ?? [];
  const form_token = new Map((await browser.form('/sign-in')).fields).get('form_token');
  await db.prisma.signInFailure.updateMany({
    where: { key: { startsWith: 'challenge-network' } },
    data: { points: 300 },
  });
  const refused = await browser.post(url, { form_token });
  expect([refused.status, JSON.parse(refused.text).message]).toEqual([
    429,
    expect.stringContaining('too many attempts'),
  ]);
  // Signing in with a password is still allowed.
  expect((await browser.signIn((await createAccount(db)).email, 'wrong')).status).toBe(422);
});

test('a flood of wrong passkeys from a network does not lock out people who have signed in from there', async () => {
  // The attack: a colleague, or a program in the same office, exhausts the network's limit so that nobody there can sign in.
  const [owner, stranger] = [await withPasskey(), await withPasskey()];
  const browser = visitor();
  const again = () => new Browser(dashboard.url, { localAddress: browser.localAddress });
  expect((await signInWithPasskey(browser, owner.authenticator)).status).toBe(303);
  await db.prisma.signInFailure.updateMany({
    where: { key: { startsWith: 'passkey-network' } },
    data: { points: 1000 },
  });
  expect((await signInWithPasskey(again(), stranger.authenticator)).status).toBe(429);
  expect((await signInWithPasskey(again(), owner.authenticator)).status).toBe(303);
});
