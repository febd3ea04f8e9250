import { type Command, InvalidArgumentError } from 'commander';
import { MAX_REQUESTS_PER_SECOND } from '../../src/domain/keys/request-limits.ts';
import {
  allowPasswords,
  changeLimits,
  createOrganization,
  resumeOrganization,
  suspendOrganization,
} from '../../src/service/operator/organizations.ts';
import {
  changeEmailOf,
  getUserByEmailOrId,
  removeUser,
  resetSecondFactorOf,
} from '../../src/service/operator/users.ts';
import { listAdministrators } from '../../src/store/people/user-lists.ts';
import { listOrganizations } from '../../src/store/unscoped/operator.ts';
import { type Context, linkFor, parseUuid } from './context.ts';

const LIMIT_HINT = `0 to ${MAX_REQUESTS_PER_SECOND}, 0 for no limit, or "default"`;

export function addOrganizationCommands(program: Command, { config, execute }: Context): void {
  program
    .command('create-organization')
    .description('create an organization with its first administrator')
    .requiredOption('--name <text>', "the organization's name, at most 200 characters")
    .requiredOption('--admin-email <address>', "the first administrator's e-mail")
    .requiredOption('--admin-name <text>', "the first administrator's name")
    .action((options: { name: string; adminEmail: string; adminName: string }) =>
      execute(async (db) => {
        const administrator = {
          email: options.adminEmail,
          name: options.adminName,
          role: 'administrator',
          passwordHash: null,
        } as const;
        const scope = await createOrganization(db, { name: options.name, users: [administrator] });
        const [first] = await listAdministrators(db, scope);
        const { email, ...link } = await linkFor(db, { scope, userId: first?.id ?? '' }, config);
        return { organization_id: scope.organizationId, name: options.name, administrator: email, ...link };
      }),
    );

  program
    .command('list-organizations')
    .description('list the organizations, oldest first, at most 1,000')
    .action(() =>
      execute(async (db) => ({
        organizations: (await listOrganizations(db)).map(({ id, name, suspendedAt, move, createdAt }) => ({
          id,
          name,
          // A move also sets suspended_at. This is the value that was set before the move.
          suspended_at: move === null ? suspendedAt : move.suspendedAt,
          moving_since: move?.startedAt ?? null,
          created_at: createdAt,
        })),
      })),
    );

  program
    .command('suspend-organization')
    .description("suspend an organization; its keys' requests get 403")
    .requiredOption('--id <uuid>', "the organization's id", parseUuid)
    .action(({ id }: { id: string }) => execute((db) => suspendOrganization(db, id).then(() => ({ suspended: id }))));

  program
    .command('resume-organization')
    .description('resume a suspended organization')
    .requiredOption('--id <uuid>', "the organization's id", parseUuid)
    .action(({ id }: { id: string }) => execute((db) => resumeOrganization(db, id).then(() => ({ resumed: id }))));

  program
    .command('allow-passwords')
    .description('stop requiring single sign-on in an organization, so that people can sign in with passwords again')
    .requiredOption('--organization <uuid>', "the organization's id", parseUuid)
    .action(({ organization }: { organization: string }) =>
      execute((db) => allowPasswords(db, organization).then(() => ({ passwords_allowed: organization }))),
    );

  program
    .command('set-limits')
    .description("set an organization's own rate limits, in requests per second; a limit that is not given stays")
    .requiredOption('--organization <uuid>', "the organization's id", parseUuid)
    .option('--per-key <requests>', LIMIT_HINT, parseLimit)
    .option('--per-organization <requests>', 'the same, for all its keys together', parseLimit)
    .action((options: { organization: string; perKey?: number | 'default'; perOrganization?: number | 'default' }) =>
      execute(async (db) => {
        const limits = await changeLimits(db, options.organization, {
          perKey: options.perKey === 'default' ? null : options.perKey,
          perOrganization: options.perOrganization === 'default' ? null : options.perOrganization,
        });
        return {
          organization_id: options.organization,
          requests_per_second_of_each_key: limits.perKey ?? 'default',
          requests_per_second_of_all_keys: limits.perOrganization ?? 'default',
        };
      }),
    );
}

/** Parses the option. Returns "default" rather than `null`, which would mean to Commander that the option has no value. */
function parseLimit(text: string): number | 'default' {
  if (text === 'default') return text;
  if (!/^\d{1,7}$/.test(text) || Number(text) > MAX_REQUESTS_PER_SECOND) {
    throw new InvalidArgumentError(`Give ${LIMIT_HINT}.`);
  }
  return Number(text);
}

export function addUserCommands(program: Command, { config, execute }: Context): void {
  program
    .command('make-link')
    .description('make a link to set a password: an invitation, or a reset for a user who has a password')
    .requiredOption('--user <email>', 'the user who gets the link, by e-mail or id')
    .action(({ user }: { user: string }) =>
      execute(async (db) => linkFor(db, await getUserByEmailOrId(db, user), config)),
    );

  program
    .command('reset-second-factor')
    .description('remove a lost second factor and the passkeys of a user and end their sessions; the password stays')
    .requiredOption('--user <email>', 'the user whose second factor and passkeys are removed, by e-mail or id')
    .action(({ user }: { user: string }) =>
      execute((db) => resetSecondFactorOf(db, user).then(({ email }) => ({ second_factor_removed: email }))),
    );

  program
    .command('change-email')
    .description('change the e-mail with which a user signs in, and void the links to the former one')
    .requiredOption('--user <email>', 'the user, by e-mail or id')
    .requiredOption('--email <address>', 'the new e-mail')
    .action(({ user, email }: { user: string; email: string }) =>
      execute((db) => changeEmailOf(db, user, { email }).then(({ from, to }) => ({ former_email: from, email: to }))),
    );

  program
    .command('remove-user')
    .description('remove a user for good: their keys are revoked, and their e-mail can be used for another account')
    .requiredOption('--user <email>', 'the user, by e-mail or id')
    .action(({ user }: { user: string }) =>
      execute(async (db) => {
        const { email, keysRevoked, isDeleted } = await removeUser(db, user);
        const kept = isDeleted ? {} : { kept: 'a deactivated user without e-mail, to whom the history of keys refers' };
        return { removed: email, keys_revoked: keysRevoked, ...kept };
      }),
    );
}
