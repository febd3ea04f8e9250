import { orThrow } from '../../src/service/outcome.ts';
import { disableEndpointByUser } from '../../src/service/webhooks/endpoints.ts';
import { type Fields, fillForm, wordsOf } from '../support/dashboard/dashboard.ts';
import { browserOf, fill, rowsOf, useDashboard } from '../support/dashboard/dashboard-server.ts';
import { formsOf } from '../support/dashboard/forms.ts';
import { createAccount, linkDirectly } from '../support/data/accounts.ts';
import { createActor, createPeople, giveKey, inParallel, NOBODY } from '../support/data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../support/data/integrations.ts';
import { addEndpoint, writeEvent } from '../support/data/webhooks.ts';
import { encryptedSecret } from '../support/postgres/postgres.ts';

/** The fields of each form whose path has an id, as the dashboard's pages send them. */
const forms = new Map<string, Fields>();

const dashboard = await useDashboard();
const { db } = dashboard;
const ours = await createPeople(db);
const theirs = await createPeople(db);
const browser = await browserOf(dashboard, ours.administrator);
const keys = {
  ourKey: (await giveKey(db, ours.administrator)).id,
  memberKey: (await giveKey(db, ours.member)).id,
  othersKey: (await giveKey(db, ours.manager)).id,
  theirKey: (await giveKey(db, theirs.member)).id,
};
const webhooks = {
  ourEndpoint: (await addEndpoint(db, ours.administrator)).id,
  theirEndpoint: (await addEndpoint(db, theirs.administrator)).id,
  ourMessage: await writeEvent(db, ours.scope),
  theirMessage: await writeEvent(db, theirs.scope),
};
const disabledEndpoint = (await addEndpoint(db, ours.administrator)).id;
orThrow(await disableEndpointByUser(db, ours.administrator, { endpointId: disabledEndpoint }));
const integrations = {
  ourIntegration: (await giveIntegration(db, ours.manager)).id,
  theirIntegration: (await giveIntegration(db, theirs.administrator)).id,
};
// Creates a suspended integration without an active owner, because the page of such an integration has other forms.
const leaver = await createActor(db, ours.scope, 'member');
const idle = (await giveIntegration(db, leaver)).id;
await db.prisma.user.updateMany({ where: { id: { in: [leaver.userId, idle] } }, data: { deactivatedAt: new Date() } });
const heldKey = (await giveIntegrationKey(db, ours.manager, { id: integrations.ourIntegration, name: '' })).id;
const ids = { ...keys, ...integrations, ourUser: ours.member.userId, theirUser: theirs.member.userId };
// With a second factor, the page for removing it has a form.
await db.prisma.user.updateMany({
  where: { id: ours.member.userId },
  data: { totpSecret: encryptedSecret(ours.member), totpSince: new Date() },
});
// If the user is linked, the user's page has the form for unlinking.
await linkDirectly(db, ours.member);
const inactive = await createAccount(db, { scope: ours.scope });
await db.prisma.user.updateMany({ where: { id: inactive.userId }, data: { deactivatedAt: new Date() } });
// If the user has not accepted the invitation, the pages about the invitation have forms.
const invited = await createActor(db, ours.scope, 'viewer');
await db.prisma.user.updateMany({ where: { id: invited.userId }, data: { hasAccepted: false } });
const withIds = dashboard.paths.filter((path) => path.includes(':'));
await inParallel(withIds, async (path) => {
  for (const { userId, keyId, endpointId, integrationId } of [
    {
      userId: ours.member.userId,
      keyId: path.startsWith('/profile') ? keys.ourKey : path.startsWith('/people') ? keys.memberKey : heldKey,
      endpointId: webhooks.ourEndpoint,
      integrationId: integrations.ourIntegration,
    },
    { userId: inactive.userId, keyId: NOBODY, endpointId: disabledEndpoint, integrationId: idle },
    { userId: invited.userId, keyId: NOBODY, endpointId: disabledEndpoint, integrationId: idle },
  ].slice(0, /:(keyId|messageId)/.test(path) ? 1 : undefined)) {
    const messageId = webhooks.ourMessage;
    const page = await browser.get(fill(path, { userId, keyId, endpointId, messageId, integrationId }));
    for (const form of formsOf(page.text)) {
      const action = form.action
        .replace(userId, ':userId')
        .replace(keyId, ':keyId')
        .replace(endpointId, ':endpointId')
        .replace(integrationId, ':integrationId')
        .replace(messageId, ':messageId');
      forms.set(action, fillForm(form));
    }
  }
});

const form_token = await browser.formToken();

/** Returns the responses without the parts that differ from request to request. */
async function responsesTo(path: string, pattern: string) {
  const [shown, acted] = [await browser.get(path), await browser.post(path, forms.get(pattern) ?? { form_token })];
  const told = [shown, acted].map(({ status, text }) => ({ status, words: wordsOf({ ...shown, text }) }));
  return JSON.stringify(told).replaceAll(path, 'PATH');
}

test('this test knows every path with an id and the form of each', async () => {
  const withId = dashboard.paths.filter((path) => /:(userId|keyId|endpointId|integrationId)/.test(path));
  expect(withId.length).toBeGreaterThanOrEqual(20);
  for (const path of withId) {
    const mine = fill(path, {
      userId: ids.ourUser,
      keyId: ids.ourKey,
      endpointId: webhooks.ourEndpoint,
      messageId: webhooks.ourMessage,
      integrationId: ids.ourIntegration,
    });
    const response = await browser.post(mine, { form_token: 'wrong' });
    if (response.status !== 405) expect([path, forms.has(path)]).toEqual([path, true]);
  }
});

test('in every URL, an id of another organization gets the same response as an unknown id and changes nothing', async () => {
  // The attack: an administrator tries ids of other organizations to learn which exist, or to revoke their keys.
  const before = await rowsOf(dashboard.db);
  const patterns = dashboard.paths.filter((each) => /:(userId|integrationId)/.test(each));
  await inParallel(patterns, async (path) => {
    const unknown = await responsesTo(fill(path, { userId: NOBODY, keyId: NOBODY, integrationId: NOBODY }), path);
    expect([path, unknown]).toEqual([path, expect.stringContaining('"status":404')]);
    expect([path, unknown]).toEqual([path, expect.not.stringMatching(/"status":(2|3|403|409|422|5)/)]);
    const foreign = fill(path, { userId: ids.theirUser, keyId: ids.theirKey, integrationId: ids.theirIntegration });
    expect([path, await responsesTo(foreign, path)]).toEqual([path, unknown]);
  });
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

test('an endpoint or a delivery of another organization gets the same response as an unknown id and changes nothing', async () => {
  // The attack: an administrator tries to read, resend or redirect what another organization receives.
  const before = await rowsOf(dashboard.db);
  const { ourEndpoint, theirEndpoint, ourMessage, theirMessage } = webhooks;
  for (const path of dashboard.paths.filter((each) => each.includes(':endpointId'))) {
    const unknown = await responsesTo(fill(path, { endpointId: NOBODY, messageId: NOBODY }), path);
    expect([path, unknown]).toEqual([path, expect.stringMatching(/"status":404/)]);
    expect([path, unknown]).toEqual([path, expect.not.stringMatching(/"status":(2|3|403|409|422|5)/)]);
    for (const endpointId of [theirEndpoint, `%00${NOBODY}'--`]) {
      const foreign = fill(path, { endpointId, messageId: theirMessage });
      expect([path, endpointId, await responsesTo(foreign, path)]).toEqual([path, endpointId, unknown]);
    }
    if (!path.includes(':messageId')) continue;
    for (const messageId of [theirMessage, '%00']) {
      const foreign = fill(path, { endpointId: ourEndpoint, messageId });
      expect([path, messageId, await responsesTo(foreign, path)]).toEqual([path, messageId, unknown]);
    }
    const swapped = fill(path, { endpointId: theirEndpoint, messageId: ourMessage });
    expect([path, await responsesTo(swapped, path)]).toEqual([path, unknown]);
  }
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

test('a key of another user or organization under one of my users gets the same response as an unknown id', async () => {
  // The attack: the URL combines a user whom the attacker may manage with a key of somebody else.
  const mine = { userId: ids.ourUser, integrationId: ids.ourIntegration };
  const before = await rowsOf(dashboard.db);
  const patterns = dashboard.paths.filter((each) => each.includes(':keyId'));
  await inParallel(patterns, async (path) => {
    const unknown = await responsesTo(fill(path, { ...mine, keyId: NOBODY }), path);
    for (const keyId of [ids.othersKey, ids.theirKey, `%00${NOBODY}'--`]) {
      const response = await responsesTo(fill(path, { ...mine, keyId }), path);
      expect([path, keyId, response]).toEqual([path, keyId, unknown]);
    }
  });
  expect(await rowsOf(dashboard.db)).toEqual(before);
});

test('text that is not an id gets the same response as an unknown id', async () => {
  // The attack: the id contains text that reaches the database or leads to another page.
  const { userId } = ours.member;
  const some = ['/people/users/:userId', '/organization/integrations/:integrationId/change'];
  for (const odd of ['%00', userId.toUpperCase(), '0', 'me', 'INVITE', '%2e%2e', '%F0%9F%92%A9', `{${userId}}`]) {
    const isEverywhere = odd === '%00' || odd === userId.toUpperCase();
    const patterns = dashboard.paths.filter((each) => /:(userId|integrationId)/.test(each));
    await inParallel(isEverywhere ? patterns : some, async (path) => {
      const filledPath = fill(path, { userId: odd, keyId: NOBODY, integrationId: odd });
      const response = JSON.parse(await responsesTo(filledPath, path));
      for (const { status } of response) expect([path, odd, status]).toEqual([path, odd, status === 405 ? 405 : 404]);
    });
  }
});
