import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_LIFE_DAYS, MAX_LIFE_DAYS } from '../../src/domain/keys/api-key.ts';
import { isPermission, PERMISSIONS, type Permission } from '../../src/domain/people/role.ts';
import {
  issueKeyByEmail,
  issueKeyForIntegration,
  revokeKeyById,
  revokeKeyByText,
} from '../../src/service/operator/keys.ts';
import { rotateEncryptionKey } from '../../src/service/operator/organizations.ts';
import { type Context, parseUuid } from './context.ts';

type IssueOptions = {
  readonly user?: string;
  readonly integration?: string;
  readonly name: string;
  readonly permissions: Permission[];
  readonly expiresDays: number | 'never';
};

export function addKeyCommands(program: Command, { config, execute }: Context): void {
  program
    .command('issue-key')
    .description('issue an API key for a user or an integration and print it once')
    .option('--user <email>', 'the user for whom the key acts')
    .addOption(
      new Option('--integration <uuid>', 'the integration for which the key acts')
        .argParser(parseUuid)
        .conflicts('user'),
    )
    .requiredOption('--name <text>', "the key's name, unique among the keys of the user or integration")
    .addOption(
      new Option('--permissions <list>', 'separated by commas, without blanks')
        .default([...PERMISSIONS], PERMISSIONS.join(','))
        .argParser(parsePermissions),
    )
    .option('--expires-days <days>', `1 to ${MAX_LIFE_DAYS}, or "never"`, parseLifeDays, DEFAULT_LIFE_DAYS)
    .allowExcessArguments()
    .action(({ user, integration, ...options }: IssueOptions, command: Command) => {
      if (command.args.length > 0)
        return command.error(
          'error: too many arguments. Separate permissions with commas, without blanks, and quote a name that has blanks.',
        );
      if (user === undefined && integration === undefined)
        return command.error("error: required option '--user <email>' or '--integration <uuid>' not specified");
      return execute(async (db) => {
        const request = {
          name: options.name,
          permissions: options.permissions,
          lifeDays: options.expiresDays === 'never' ? null : options.expiresDays,
          environment: config.environment,
          cell: config.cell,
        };
        const issued =
          integration === undefined
            ? await issueKeyByEmail(db, { ...request, email: user ?? '' })
            : await issueKeyForIntegration(db, { ...request, integrationId: integration });
        const { id, key, name, permissions, expiresAt, organizationId } = issued;
        return { key, id, name, permissions, expires_at: expiresAt, organization_id: organizationId };
      });
    });

  program
    .command('revoke-key')
    .description('revoke an API key; its next request gets 401')
    .addOption(
      new Option('--id <uuid>', "the key's id, as GET /api/key shows it").argParser(parseUuid).conflicts('key'),
    )
    .option('--key <text>', 'the key itself, or its prefix if no other key has it; a prefix of several keys lists them')
    .action(({ id, key }: { id?: string; key?: string }, command: Command) => {
      if (id !== undefined)
        return execute((db) => revokeKeyById(db, id).then((done) => resultOfRevocation({ id, ...done })));
      if (key !== undefined) return execute((db) => revokeKeyByText(db, key).then(resultOfRevocation));
      return command.error("error: required option '--id <uuid>' or '--key <text>' not specified");
    });

  program
    .command('rotate-encryption-key')
    .description(
      'encrypt all secrets with the first encryption key, and forget the others; first restart every process with that key',
    )
    .action(() =>
      execute(
        async (db) => ({
          secrets_encrypted: await rotateEncryptionKey(db),
          note: 'A process that runs without the first key cannot read the secrets: restart it with this key. The other keys can be removed.',
        }),
        { replacesUnusedKeys: true },
      ),
    );
}

function resultOfRevocation({ id, isMoving }: { readonly id: string; readonly isMoving: boolean }) {
  const note =
    'Its organization moves. The other installation revokes the key, too, before it serves the organization.';
  return isMoving ? { revoked: id, note } : { revoked: id };
}

function parsePermissions(text: string): Permission[] {
  const given = text.split(',').map((each) => each.trim());
  if (!given.every(isPermission)) throw new InvalidArgumentError(`There are: ${PERMISSIONS.join(', ')}.`);
  return given;
}

/** Parses the option. Returns "never" rather than `null`, which would mean to Commander that the option has no value. */
function parseLifeDays(text: string): number | 'never' {
  if (text === 'never') return text;
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`Give 1 to ${MAX_LIFE_DAYS}, or "never".`);
  return Number(text);
}
