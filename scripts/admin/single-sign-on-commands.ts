import type { Command } from 'commander';
import { getScope } from '../../src/service/operator/organizations.ts';
import { vouchForDomain } from '../../src/service/sign-in/single-sign-on/domains.ts';
import { type Context, parseUuid } from './context.ts';

export function addSingleSignOnCommands(program: Command, { execute }: Context): void {
  program
    .command('vouch-domain')
    .description("verify an e-mail domain of an organization for single sign-on, without the domain's TXT record")
    .requiredOption('--organization <uuid>', "the organization's id", parseUuid)
    .requiredOption('--domain <name>', 'the domain of its e-mail addresses, such as acme.example')
    .action(({ organization, domain }: { organization: string; domain: string }) =>
      execute(async (db) => ({
        verified_domain: await vouchForDomain(db, await getScope(db, organization), { domain }),
      })),
    );
}
