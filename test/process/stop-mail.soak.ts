import { askForReset } from '../support/http/forgotten-password.ts';
import { startSmtp } from '../support/http/smtp.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { organizationAt, untilStopping, withCharter } from '../support/processes/charter.ts';
import { until } from '../support/wait.ts';

// The page told the user to check their mail, so a restart at that moment must not lose it.
test('SIGTERM waits for a mail in transit, whose link uses PUBLIC_URL, before it closes the database', async () => {
  const smtp = await startSmtp({ isSlow: true });
  await withScratchDatabase(async (DATABASE_URL) => {
    const mail = { SMTP_URL: smtp.url, MAIL_FROM: 'charter@example.org', PUBLIC_URL: 'http://charter.example.org' };
    await withCharter({ DATABASE_URL, ...mail }, async (charter) => {
      const { email } = await organizationAt(DATABASE_URL, charter);
      expect((await askForReset(charter.url, { email })).status).toBe(200);
      await until('the mail to be under way', () => smtp.isAsked());
      charter.child.kill('SIGTERM');
      await untilStopping(charter);
      expect(charter.child.exitCode).toBeNull();
      expect(smtp.mails).toEqual([]);
      smtp.greet();
      const { code, stdout, stderr } = await charter.ended;
      // The other mail is about the key that an operator has created.
      const links = smtp.mails.filter((mail) => !mail.includes('API key'));
      expect({ code, stderr, links: links.length }).toEqual({ code: 0, stderr: '', links: 1 });
      expect(links[0]).toMatch(/http:\/\/charter\.example\.org\/welcome\/[\w-]{43}/);
      // The link opens the account.
      expect(stdout).not.toMatch(/welcome\/[\w-]{20}|could not send/);
    });
  });
  smtp.close();
});
