import { useSite } from '../support/browser/site.ts';
import { createTestOrganization } from '../support/servers/server.ts';

// Requests that a reader sends from the page of an operation, with an API key of an organization on this server.

const site = await useSite();

test('by keyboard alone: a list, a creation and a refusal, with a key that is only in the memory of the page', async () => {
  const { key } = await createTestOrganization(site.server);
  const page = await site.visit({ viewport: { width: 380, height: 800 } });
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/')) sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  const response = page.locator('#try-response');
  const open = async (operationId: string) => {
    await page.goto(`/docs/reference/${operationId}`);
    await page.getByLabel('API key').focus();
    await page.keyboard.insertText(key);
  };

  await open('listParentPrograms');
  await page.getByLabel('limit').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('7');
  expect(await page.locator('#try-samples [data-language="curl"]').textContent()).toContain(
    '/api/parent_programs?limit=7',
  );
  expect(await page.locator('#try-samples').textContent()).not.toContain(key);
  expect(sent).toEqual([]);
  await page.keyboard.press('Enter');
  await response.getByText(/^200/).waitFor();
  expect(await response.textContent()).toMatch(/ in \d+ ms.*x-request-id: .*"limit": 7/s);

  await open('createParentProgram');
  const body = page.getByLabel('Request body');
  await body.focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{ "name": "Tried by keyboard" }');
  expect(await page.getByText('This request writes').isVisible()).toBe(true);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await response.getByText(/^201/).waitFor();

  await body.fill('{ "name": "" }');
  expect(site.problems).toEqual([]);
  await page.getByRole('button', { name: 'Send and write' }).press('Enter');
  await response.getByText(/^422/).waitFor();
  expect(await response.textContent()).toContain('name must not be blank.');
  // The browser logs the refusal as an error, too.
  expect(site.problems.splice(0).filter((problem) => !problem.includes('422'))).toEqual([]);
  expect(sent).toEqual(['GET /api/parent_programs', 'POST /api/parent_programs', 'POST /api/parent_programs']);

  const kept = async () =>
    String(
      await page.evaluate(
        'document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
      ),
    );
  expect(await kept()).not.toContain(key);
  await page.goto('/docs/reference/getKey');
  await page.goBack();
  expect(await kept()).not.toContain(key);
  expect(await page.getByLabel('API key').inputValue()).toBe('');
});

test('a body that is not JSON is named, and the server refuses it', async () => {
  const { key } = await createTestOrganization(site.server);
  const page = await site.visit();
  await page.goto('/docs/reference/createParentProgram');
  await page.getByLabel('API key').fill(key);
  await page.getByLabel('Request body').fill('{ "name": ');
  await page.getByRole('alert').getByText('The body is not JSON').waitFor();
  await page.getByRole('button', { name: 'Send and write' }).click();
  await page.locator('#try-response').getByText(/^400/).waitFor();
  expect(site.problems.splice(0).filter((problem) => !problem.includes('400'))).toEqual([]);
});
