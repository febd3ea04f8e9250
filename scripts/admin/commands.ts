// The operator's commands for a whole installation: organizations, users and keys.
import { Console } from 'node:console';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type Config, readConfig } from '../../src/config.ts';
import { linkUrl } from '../../src/domain/access-link.ts';
import { DEFAULT_LIFE_DAYS, MAX_LIFE_DAYS } from '../../src/domain/api-key.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { commandLine, IS_RELEASE, VERSION } from '../../src/domain/release.ts';
import { MAX_REQUESTS_PER_SECOND } from '../../src/domain/request-limits.ts';
import { isPermission, PERMISSIONS, type Permission } from '../../src/domain/role.ts';
import { StartUpError } from '../../src/domain/start-up-error.ts';
import { connect, type DatabaseChoice } from '../../src/postgres/connect.ts';
import { makeOperatorLink } from '../../src/service/accounts/access-links.ts';
import {
  changeLimits,
  createOrganization,
  issueKeyByEmail,
  resetSecondFactorByEmail,
  resumeOrganization,
  revokeKeyById,
  revokeKeyByText,
  rotateEncryptionKey,
  suspendOrganization,
} from '../../src/service/operator.ts';
import type { Database } from '../../src/store/database.ts';
import { isOutage } from '../../src/store/database-errors.ts';
import { listOrganizations } from '../../src/store/unscoped.ts';

const LIMIT_HINT = `0 to ${MAX_REQUESTS_PER_SECOND}, 0 for no limit, or "default"`;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What a command takes from its process. */
export type Surroundings = {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
};

/**
 * Runs a command and returns its exit code: 1 after an error that the operator can fix, which it prints. Every other error,
 * which is a bug, is thrown.
 */
export async function runAdmin(parameters: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    const config = readConfig(surroundings.env);
    await createProgram(config, surroundings).parseAsync(parameters, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed it.
    if (error instanceof CommanderError) return error.exitCode;
    surroundings.stderr.write(`${messageOf(error)}\n`);
    return 1;
  }
}

/** Throws an error that the operator cannot fix. */
function messageOf(error: unknown): string {
  if (error instanceof StartUpError) return `${error.message} ${error.remedy}`;
  if (error instanceof DomainError) return error.message;
  if (isOutage(error)) return 'The database does not answer. Try again in a moment.';
  throw error;
}

function createProgram(config: Config, { stdout, stderr }: Surroundings): Command {
  const program = new Command(commandLine('admin'))
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
    .description('Administers an installation of Charter, in the database of the server: DATABASE_URL or DATA_DIR.')
    .option(
      '--json',
      `print one JSON object instead of lines${IS_RELEASE ? '' : '; call it as npm run --silent admin -- --json'}`,
    )
    .showHelpAfterError('Add --help to see what it takes.')
    .configureHelp({ showGlobalOptions: true });
  const execute: Execute = async (work, { replacesUnusedKeys = false } = {}) => {
    // PostgreSQL itself, because a command may hold a lock of its session over several transactions. With
    // `databaseDirectUrl` unchanged, an error names the variable that the URL comes from.
    const databaseUrl = config.databaseDirectUrl ?? config.databaseUrl;
    const choice = { ...config, databaseUrl, databasePoolSize: 1, replacesUnusedKeys };
    const { db, leave } = await connect(choice, () => {});
    try {
      print(await work(db), { isJson: program.opts<{ json?: true }>().json === true, stdout });
    } finally {
      await leave();
    }
  };
  addOrganizationCommands(program, { config, execute });
  addUserCommands(program, { config, execute });
  addKeyCommands(program, { config, execute });
  return program;
}

/** Runs the work of a command on the configured database and prints its result. */
type Execute = (
  work: (db: Database) => Promise<object>,
  options?: Pick<DatabaseChoice, 'replacesUnusedKeys'>,
) => Promise<void>;
type Context = { readonly config: Config; readonly execute: Execute };

function addOrganizationCommands(program: Command, { config, execute }: Context): void {
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
        const { organizationId } = await createOrganization(db, { name: options.name, users: [administrator] });
        const { email, ...link } = await linkFor(db, options.adminEmail, config);
        return { organization_id: organizationId, name: options.name, administrator: email, ...link };
      }),
    );

  program
    .command('list-organizations')
    .description('list the organizations, oldest first, at most 1,000')
    .action(() =>
      execute(async (db) => ({
        organizations: (await listOrganizations(db)).map(({ id, name, suspendedAt, createdAt }) => ({
          id,
          name,
          suspended_at: suspendedAt,
          created_at: createdAt,
        })),
      })),
    );

  program
    .command('suspend-organization')
    .description("suspend an organization; its keys' requests get 403")
    .requiredOption('--id <uuid>', "the organization's id", uuid)
    .action(({ id }: { id: string }) => execute((db) => suspendOrganization(db, id).then(() => ({ suspended: id }))));

  program
    .command('resume-organization')
    .description('resume a suspended organization')
    .requiredOption('--id <uuid>', "the organization's id", uuid)
    .action(({ id }: { id: string }) => execute((db) => resumeOrganization(db, id).then(() => ({ resumed: id }))));

  program
    .command('set-limits')
    .description("set an organization's own rate limits, in requests per second; a limit that is not given stays")
    .requiredOption('--organization <uuid>', "the organization's id", uuid)
    .option('--per-key <requests>', LIMIT_HINT, limit)
    .option('--per-organization <requests>', 'the same, for all its keys together', limit)
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

function addUserCommands(program: Command, { config, execute }: Context): void {
  program
    .command('make-link')
    .description('make a link to set a password: an invitation, or a reset for a user who has a password')
    .requiredOption('--user <email>', 'the user who gets the link')
    .action(({ user }: { user: string }) => execute((db) => linkFor(db, user, config)));

  program
    .command('reset-second-factor')
    .description('remove a lost second factor of a user and end their sessions; the password stays')
    .requiredOption('--user <email>', 'the user whose second factor is removed')
    .action(({ user }: { user: string }) =>
      execute((db) => resetSecondFactorByEmail(db, user).then(({ email }) => ({ second_factor_removed: email }))),
    );
}

function addKeyCommands(program: Command, { config, execute }: Context): void {
  program
    .command('issue-key')
    .description('issue an API key for a user and print it once')
    .requiredOption('--user <email>', 'the user for whom the key acts')
    .requiredOption('--name <text>', "the key's name, unique among the user's keys")
    .addOption(
      new Option('--permissions <list>', 'comma-separated')
        .default([...PERMISSIONS], PERMISSIONS.join(','))
        .argParser(permissions),
    )
    .option('--expires-days <days>', `1 to ${MAX_LIFE_DAYS}, or "never"`, lifeDays, DEFAULT_LIFE_DAYS)
    .action((options: { user: string; name: string; permissions: Permission[]; expiresDays: number | 'never' }) =>
      execute(async (db) => {
        const issued = await issueKeyByEmail(db, {
          email: options.user,
          name: options.name,
          permissions: options.permissions,
          lifeDays: options.expiresDays === 'never' ? null : options.expiresDays,
          environment: config.environment,
        });
        const { id, key, name, permissions, expiresAt, organizationId } = issued;
        return { key, id, name, permissions, expires_at: expiresAt, organization_id: organizationId };
      }),
    );

  program
    .command('revoke-key')
    .description('revoke an API key; its next request gets 401')
    .addOption(new Option('--id <uuid>', "the key's id, as GET /api/key shows it").argParser(uuid).conflicts('key'))
    .option('--key <text>', 'the key itself, or its prefix if no other key has it; a prefix of several keys lists them')
    .action(({ id, key }: { id?: string; key?: string }, command: Command) => {
      if (id !== undefined) return execute((db) => revokeKeyById(db, id).then(() => ({ revoked: id })));
      if (key !== undefined) return execute((db) => revokeKeyByText(db, key).then((revoked) => ({ revoked })));
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

/** The link is below PUBLIC_URL or, without it, below the server's local address. */
async function linkFor(db: Database, email: string, config: Config) {
  const link = await makeOperatorLink(db, email);
  const url = linkUrl(config.publicUrl ?? `http://localhost:${config.port}`, link.token);
  return { email: link.email, kind: link.kind, link: url, link_expires_at: link.expiresAt };
}

function print(result: object, { isJson, stdout }: { isJson: boolean; stdout: NodeJS.WritableStream }): void {
  const output = new Console(stdout);
  if (isJson) output.log(JSON.stringify(result));
  for (const [name, value] of isJson ? [] : Object.entries(result)) {
    if (Array.isArray(value) && typeof value[0] === 'object') output.table(value);
    else output.log(`${name.replaceAll('_', ' ')}: ${value instanceof Date ? value.toISOString() : (value ?? 'none')}`);
  }
}

function permissions(text: string): Permission[] {
  const given = text.split(',').map((each) => each.trim());
  if (!given.every(isPermission)) throw new InvalidArgumentError(`There are: ${PERMISSIONS.join(', ')}.`);
  return given;
}

/** "never" rather than null, because Commander takes null for an option without a value. */
function lifeDays(text: string): number | 'never' {
  if (text === 'never') return text;
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`Give 1 to ${MAX_LIFE_DAYS}, or "never".`);
  return Number(text);
}

/** "default" rather than null, because Commander takes null for an option without a value. */
function limit(text: string): number | 'default' {
  if (text === 'default') return text;
  if (!/^\d{1,7}$/.test(text) || Number(text) > MAX_REQUESTS_PER_SECOND) {
    throw new InvalidArgumentError(`Give ${LIMIT_HINT}.`);
  }
  return Number(text);
}

function uuid(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('Give a UUID.');
  return text.toLowerCase();
}
