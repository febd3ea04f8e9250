import { signIn, useSite } from '../support/browser/site.ts';
import { PASSWORD } from '../support/data/password.ts';

const site = await useSite();

test('a person who is not signed in is redirected to the sign-in, and from there to the requested page', async () => {
  const { administrator } = await site.team();
  const page = await site.visit();
  await page.goto('/organization/audit-log?action=user.signed_in');
  await signIn(page, administrator);
  await page.getByRole('heading', { name: 'Events' }).waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
    '/organization/audit-log?action=user.signed_in',
  );
});

test('a sign-in link that names another host leads to the profile', async () => {
  // Browsers take the backslash for a slash. test/dashboard/sign-in/next.test.ts tries the other forms.
  const { member } = await site.team();
  const page = await site.visit();
  await page.goto(`/sign-in?next=${encodeURIComponent('/\\evil.example')}`);
  await signIn(page, member);
  await page.getByRole('heading', { name: 'My profile' }).waitFor();
  expect(page.url()).toBe(`${site.server.url}/profile`);
});

test('a wrong password and an unknown e-mail get the same message, and the password is not repeated', async () => {
  const { member } = await site.team();
  const page = await site.visit();
  const said: string[] = [];
  for (const email of [member.email, 'nobody@northwind.example']) {
    await page.goto('/sign-in');
    await signIn(page, { email, password: 'not the password of anybody' });
    said.push(await page.getByRole('alert').innerText());
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    expect(await page.getByLabel('E-mail').inputValue()).toBe(email);
  }
  expect(said).toEqual(Array(2).fill('The e-mail or the password is not right.'));
});

test('an invitation link leads to a first sign-in, works once, and makes the invited person a member', async () => {
  const { manager } = await site.team();
  const page = await site.visitAs(manager);
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('link', { name: 'Invite a user' }).click();
  await page.getByLabel('Name').fill('Noor Haddad');
  const email = `noor.${crypto.randomUUID()}@northwind.example`;
  await page.getByLabel('E-mail').fill(email);
  const offered = await page.getByLabel('Role').getByRole('option').allInnerTexts();
  expect(offered.map((words) => words.split(':')[0])).toEqual(['Member', 'Viewer']);
  await page.getByRole('button', { name: 'Invite' }).click();
  const link = await page.getByLabel('Link', { exact: true }).inputValue();
  await page.reload();
  expect(await page.content()).not.toContain(link);

  const theirs = await site.visit();
  await theirs.goto(link);
  expect(await theirs.getByRole('main').innerText()).toContain('Welcome to Northwind Learning Alliance, Noor Haddad.');
  await theirs.getByLabel('Password').fill('too short');
  await theirs.getByRole('button', { name: 'Set the password' }).click();
  expect(await theirs.getByRole('alert').innerText()).toContain('15 characters');
  await theirs.getByLabel('Password').fill(PASSWORD);
  await theirs.getByRole('button', { name: 'Set the password' }).click();
  await theirs.getByText('Your password is set.').waitFor();
  await signIn(theirs, { email });
  await theirs.getByText('Own keys, if the organization lets members create them.').waitFor();
  expect((await theirs.goto(link))?.status()).toBe(404);
});

test('a reset link sets a new password, ends the sessions and invalidates the old password', async () => {
  const { manager, member } = await site.team();
  const before = await site.visitAs(member);
  await before.getByRole('heading', { name: 'My profile' }).waitFor();
  const page = await site.visitAs(manager);
  await page.goto(`/people/users/${member.userId}`);
  await page.getByRole('button', { name: 'Make a reset link' }).click();
  const link = await page.getByLabel('Link', { exact: true }).inputValue();
  const theirs = await site.visit();
  await theirs.goto(link);
  const password = 'entirely other words 7 lamps';
  await theirs.getByLabel('Password').fill(password);
  await theirs.getByRole('button', { name: 'Set the password' }).click();
  await theirs.getByText('Your password is set.').waitFor();
  await before.reload();
  await before.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(theirs, member);
  await theirs.getByText('The e-mail or the password is not right.').waitFor();
  await signIn(theirs, { email: member.email, password });
  await theirs.getByRole('heading', { name: 'My profile' }).waitFor();
});

test('changing the password keeps this session and ends the others', async () => {
  const { member } = await site.team();
  const [page, elsewhere] = [await site.visitAs(member), await site.visitAs(member)];
  await elsewhere.getByRole('heading', { name: 'My profile' }).waitFor();
  await page.getByRole('link', { name: 'Change password' }).click();
  await page.getByLabel('New password').fill('entirely other words 8 lamps');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Your password is changed.').waitFor();
  await elsewhere.reload();
  await elsewhere.getByRole('heading', { name: 'Sign in' }).waitFor();
});
