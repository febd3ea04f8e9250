import { type CellConfig, requireCells } from './config-cells.ts';
import { MAKE_A_KEY } from './config-values.ts';
import { StartUpError } from './domain/errors.ts';
import type { Keyring } from './domain/keyring.ts';

type Checked = CellConfig & {
  readonly nodeEnv: string;
  readonly host: string;
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  readonly keyring: Keyring | undefined;
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
};

/** Throws a StartUpError for variables that are valid, but not together. */
export function requireConsistency(config: Checked): void {
  requirePublicUrl(config);
  requireKeyring(config);
  requireDatabaseUrl(config);
  requireCells(config);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

/**
 * For users on other machines, a proxy terminates HTTPS, and without PUBLIC_URL nothing reliable tells the server so: cookies
 * would not be Secure, and the curl command beside a new key would send it over http. On loopback without a proxy, which may be
 * a trial, the server only warns.
 */
function requirePublicUrl({ nodeEnv, host, trustedProxies, publicUrl }: Checked): void {
  const isLoopback = LOOPBACK.test(host);
  if (nodeEnv !== 'production' || publicUrl !== undefined || (isLoopback && trustedProxies.length === 0)) return;
  const reason = isLoopback ? `TRUSTED_PROXIES is "${trustedProxies.join(',')}"` : `HOST is "${host}"`;
  throw new StartUpError(
    `PUBLIC_URL is missing. It is required in production if ${reason}.`,
    'Set PUBLIC_URL to the URL under which people reach Charter, such as https://charter.example.org. Cookies are Secure only with https.',
  );
}

/**
 * Several processes, on any machine, share an external database, so a key that one of them made for itself would lock out the
 * others. In development, which is one machine, the key is in a file, as with the embedded PostgreSQL.
 */
function requireKeyring({ nodeEnv, databaseUrl, keyring: given }: Checked): void {
  if (nodeEnv !== 'production' || databaseUrl === undefined || given !== undefined) return;
  throw new StartUpError(
    'ENCRYPTION_KEY is missing. It is required in production with DATABASE_URL.',
    `Set it, for every process that uses this database, to the key that the database already has. Only for a new database, set it to the output of: ${MAKE_A_KEY} and keep a copy apart from the backups of the database.`,
  );
}

function requireDatabaseUrl({ databaseUrl, databaseDirectUrl }: Checked): void {
  if (databaseDirectUrl === undefined || databaseUrl !== undefined) return;
  throw new StartUpError(
    'DATABASE_DIRECT_URL is set, but DATABASE_URL is missing.',
    'Set DATABASE_URL to the URL of the connection pooler, or unset DATABASE_DIRECT_URL.',
  );
}
