import { availableParallelism } from 'node:os';
import type { ResponseCheck } from './api/response-check.ts';
import { type CellConfig, readCellConfig, requireCells } from './config-cells.ts';
import { type ObservabilityConfig, readObservabilityConfig } from './config-observability.ts';
import {
  invalidError,
  MAKE_A_KEY,
  readDatabaseUrl,
  readInteger,
  readKeyring,
  readNetworks,
  readOneOf,
  readOrigin,
  readRatio,
  type Variable,
} from './config-values.ts';
import { type Environment, variablesIn } from './config-variables.ts';
import { StartUpError } from './domain/errors.ts';
import type { WebhookTargets } from './domain/forbidden-address.ts';
import type { Keyring } from './domain/keyring.ts';
import { ENVIRONMENTS, type Environment as KeyEnvironment } from './domain/keys/api-key.ts';
import { DEFAULT_LIMITS, MAX_REQUESTS_PER_SECOND, type RequestLimits } from './domain/keys/request-limits.ts';
import { parseScannerKeys, type ScannerKeys } from './domain/keys/secret-scanning.ts';
import { canonicalNetwork } from './domain/network.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const MIB = 1024 * 1024;
const RESPONSE_CHECKS = ['off', 'report', 'enforce'] as const;
const NEWER_DATABASE = ['refuse', 'accept'] as const;
const NODE_ENVS = ['development', 'production', 'test'] as const;
const BOOLEANS = ['true', 'false'] as const;

export type Config = CellConfig &
  ObservabilityConfig &
  ContactConfig & {
    /** The port on which the server listens; 0 for any free port. */
    readonly port: number;
    readonly host: string;
    /** The number of worker processes that serve the port. */
    readonly workers: number;
    /** The URL of the database; `undefined` if the server uses the embedded PostgreSQL in `dataDir`. */
    readonly databaseUrl: string | undefined;
    /** The URL of PostgreSQL itself; `undefined` unless `databaseUrl` is the URL of a connection pooler. */
    readonly databaseDirectUrl: string | undefined;
    readonly databasePoolSize: number;
    /** Whether the server starts even if a newer version has migrated the database. */
    readonly acceptsNewerDatabase: boolean;
    readonly dataDir: string;
    /** The keys that encrypt secrets in the database; `undefined` if the server uses the key in a file in `dataDir`. */
    readonly keyring: Keyring | undefined;
    readonly requestLimits: RequestLimits;
    readonly responseCacheBytes: number;
    /** How responses are validated; `null` if they are not validated. */
    readonly responseCheck: ResponseCheck | null;
    readonly eventRetentionDays: number;
    readonly webhooks: WebhookTargets;
    /** How long the server accepts new connections after a signal to stop. Meanwhile, /readyz returns 503. */
    readonly drainSeconds: number;
    readonly logLevel: (typeof LOG_LEVELS)[number];
    readonly nodeEnv: (typeof NODE_ENVS)[number];
    readonly environment: KeyEnvironment;
    /** The origin of the dashboard, such as https://charter.example.org; `undefined` if the origin is taken from each request. */
    readonly publicUrl: string | undefined;
    /**
     * The proxies whose headers X-Forwarded-For and X-Forwarded-Proto are trusted: addresses, subnets, or the names "loopback",
     * "linklocal" and "uniquelocal".
     */
    readonly trustedProxies: readonly string[];
    /** The public keys with which a secret scanner signs its reports of leaked keys. */
    readonly scannerKeys: ScannerKeys;
  };

/** The networks of the receivers and identity providers that a developer runs beside a demonstration. */
const THIS_MACHINE = '127.0.0.0/8, ::1';

/**
 * Reads and validates the environment variables. An empty variable counts as unset. Throws a StartUpError if a value is invalid.
 */
export function readConfig(env: Environment): Config {
  const variable = variablesIn(env);
  const nodeEnv = readOneOf('NODE_ENV', variable('NODE_ENV'), { fallback: 'development', allowed: NODE_ENVS });
  const isDemonstration = nodeEnv === 'development';
  const config = {
    port: readInteger('PORT', variable('PORT'), { fallback: 3000, min: 0, max: 65535 }),
    host: variable('HOST') ?? '127.0.0.1',
    workers: readWorkers(variable('WORKERS')),
    databaseUrl: readDatabaseUrl('DATABASE_URL', variable('DATABASE_URL')),
    databaseDirectUrl: readDatabaseUrl('DATABASE_DIRECT_URL', variable('DATABASE_DIRECT_URL')),
    databasePoolSize: readInteger('DATABASE_POOL_SIZE', variable('DATABASE_POOL_SIZE'), {
      fallback: 10,
      min: 1,
      max: 1000,
    }),
    acceptsNewerDatabase:
      readOneOf('NEWER_DATABASE', variable('NEWER_DATABASE'), { fallback: 'refuse', allowed: NEWER_DATABASE }) ===
      'accept',
    dataDir: variable('DATA_DIR') ?? '.data',
    keyring: readKeyring(variable('ENCRYPTION_KEY')),
    requestLimits: {
      perKey: readRate('RATE_LIMIT_PER_KEY', variable('RATE_LIMIT_PER_KEY'), DEFAULT_LIMITS.perKey),
      perOrganization: readRate(
        'RATE_LIMIT_PER_ORGANIZATION',
        variable('RATE_LIMIT_PER_ORGANIZATION'),
        DEFAULT_LIMITS.perOrganization,
      ),
      perAddress: readRate('RATE_LIMIT_PER_ADDRESS', variable('RATE_LIMIT_PER_ADDRESS'), DEFAULT_LIMITS.perAddress),
    },
    responseCacheBytes:
      MIB * readInteger('RESPONSE_CACHE_MIB', variable('RESPONSE_CACHE_MIB'), { fallback: 64, min: 0, max: 65536 }),
    responseCheck: readResponseCheck({
      mode: variable('RESPONSE_CHECK'),
      rate: variable('RESPONSE_CHECK_SAMPLE_RATE'),
      isDemonstration,
    }),
    eventRetentionDays: readInteger('EVENT_RETENTION_DAYS', variable('EVENT_RETENTION_DAYS'), {
      fallback: 30,
      // The last attempt to deliver an event to a webhook can be 31 hours after the event, so events must be kept for at least
      // two days.
      min: 2,
      max: 365,
    }),
    webhooks: {
      allowHttp:
        readOneOf('WEBHOOKS_ALLOW_HTTP', variable('WEBHOOKS_ALLOW_HTTP'), {
          fallback: isDemonstration ? 'true' : 'false',
          allowed: BOOLEANS,
        }) === 'true',
      allowedNetworks: readNetworks(
        'WEBHOOKS_ALLOWED_NETWORKS',
        variable('WEBHOOKS_ALLOWED_NETWORKS') ?? (isDemonstration ? THIS_MACHINE : undefined),
      ),
    },
    drainSeconds: readInteger('DRAIN_SECONDS', variable('DRAIN_SECONDS'), { fallback: 0, min: 0, max: 300 }),
    ...readObservabilityConfig(variable),
    logLevel: readOneOf('LOG_LEVEL', variable('LOG_LEVEL'), { fallback: 'info', allowed: LOG_LEVELS }),
    nodeEnv,
    environment: readOneOf('CHARTER_ENVIRONMENT', variable('CHARTER_ENVIRONMENT'), {
      fallback: 'live',
      allowed: ENVIRONMENTS,
    }),
    ...readCellConfig(variable),
    publicUrl: readOrigin('PUBLIC_URL', variable('PUBLIC_URL')),
    trustedProxies: readTrustedProxies(variable('TRUSTED_PROXIES')),
    scannerKeys: readScannerKeys(variable('SECRET_SCANNING_KEYS')),
    ...readContactConfig(variable),
  };
  requireConsistency(config);
  return config;
}

/** Returns the names of all environment variables that a server reads. */
export function listVariables(): string[] {
  const names = new Set<string>();
  const get = (_target: object, name: string) => void names.add(name);
  readConfig(new Proxy({}, { get }));
  return [...names].toSorted();
}

const MAX_WORKERS = 256;

function readWorkers(text: string | undefined): number {
  if (text === 'auto') return availableParallelism();
  if (text !== undefined && !/^\d+$/.test(text))
    throw invalidError('WORKERS', text, `"auto" or an integer from 1 to ${MAX_WORKERS}`);
  return readInteger('WORKERS', text, { fallback: 1, min: 1, max: MAX_WORKERS });
}

function readRate(name: string, text: string | undefined, fallback: number): number {
  return readInteger(name, text, { fallback, min: 0, max: MAX_REQUESTS_PER_SECOND });
}

type GivenCheck = { mode: string | undefined; rate: string | undefined; isDemonstration: boolean };

/**
 * Reads how responses are validated. The default in development is "report": responses that break the contract are reported, but
 * still sent, so that a demonstration behaves as it would in production.
 */
function readResponseCheck({ isDemonstration, ...given }: GivenCheck): Config['responseCheck'] {
  const fallback = isDemonstration ? 'report' : 'off';
  const mode = readOneOf('RESPONSE_CHECK', given.mode, { fallback, allowed: RESPONSE_CHECKS });
  const sampleRate = readRatio('RESPONSE_CHECK_SAMPLE_RATE', given.rate, { allowsZero: false });
  if (mode === 'enforce' && sampleRate < 1) {
    throw new StartUpError(
      'RESPONSE_CHECK is "enforce", but RESPONSE_CHECK_SAMPLE_RATE is not 1.',
      '"enforce" checks every response: unset RESPONSE_CHECK_SAMPLE_RATE, or set RESPONSE_CHECK=report.',
    );
  }
  return mode === 'off' ? null : { mode, sampleRate };
}

const PROXY_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

/**
 * Reads the list of trusted proxies. Refuses a subnet that contains all addresses, because every client could then choose the
 * address that the server sees.
 */
function readTrustedProxies(text: string | undefined): string[] {
  const given = readNetworks('TRUSTED_PROXIES', text, PROXY_NAMES);
  if (!given.some((each) => (canonicalNetwork(each) ?? each).endsWith('/0'))) return given;
  throw invalidError('TRUSTED_PROXIES', text ?? '', 'the addresses and subnets of your proxies, such as 10.0.0.0/8');
}

function readScannerKeys(text: string | undefined): ScannerKeys {
  if (text === undefined) return new Map();
  const keys = parseScannerKeys(text);
  if (keys !== null) return keys;
  throw invalidError(
    'SECRET_SCANNING_KEYS',
    text,
    'the identifier and the base64 of a P-256 public key, such as 90a42116…:MFkwEwYHKoZI…, several separated by commas',
  );
}

export type ContactConfig = {
  /** A web page or a mailto URL where people get support; `undefined` if the installation has none. */
  readonly supportUrl: string | undefined;
  /** The mail server and the sender; `null` if no mail is sent. A user who creates a link then sees the link instead. */
  readonly mail: { readonly smtpUrl: string; readonly mailFrom: string } | null;
};

function readContactConfig(variable: Variable): ContactConfig {
  return {
    supportUrl: readSupportUrl('SUPPORT_CONTACT', variable('SUPPORT_CONTACT')),
    mail: readMail({
      smtpUrl: variable('SMTP_URL'),
      mailFrom: variable('MAIL_FROM'),
      publicUrl: variable('PUBLIC_URL'),
    }),
  };
}

/** Reads an e-mail address or a URL, and returns a mailto URL for an e-mail address. */
export function readSupportUrl(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^[^\s@:/?&]+@[^\s@:/?&]+$/.test(text)) return `mailto:${text}`;
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw invalidError(name, text, 'an e-mail address or a URL, such as https://support.example.org');
}

const MAIL_FROM = /^([^<>\p{C}]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/u;

function readMail(given: Record<'smtpUrl' | 'mailFrom' | 'publicUrl', string | undefined>): ContactConfig['mail'] {
  const { smtpUrl, mailFrom } = given;
  if (smtpUrl === undefined && mailFrom === undefined) return null;
  if (smtpUrl === undefined || mailFrom === undefined) {
    const missing = smtpUrl === undefined ? 'SMTP_URL' : 'MAIL_FROM';
    throw new StartUpError(
      `The mail configuration is incomplete: ${missing} is missing.`,
      'Set both SMTP_URL and MAIL_FROM, or neither.',
    );
  }
  // The message does not contain the value, because the value may contain a password.
  if (!URL.canParse(smtpUrl) || !/^smtps?:$/.test(new URL(smtpUrl).protocol) || new URL(smtpUrl).hostname === '') {
    throw new StartUpError(
      'SMTP_URL is not an SMTP URL.',
      'Set it to one such as smtps://user:password@mail.example.org, or unset both SMTP_URL and MAIL_FROM.',
    );
  }
  if (!MAIL_FROM.test(mailFrom)) {
    throw invalidError('MAIL_FROM', mailFrom, 'an e-mail address, such as Charter <charter@example.org>');
  }
  // The attack: a request with another host name would change the links in mails, so the host name must come from PUBLIC_URL.
  if (given.publicUrl === undefined) {
    throw new StartUpError(
      'Mail is configured, but PUBLIC_URL is missing.',
      'Links in mails need it. Set it to the URL under which people reach Charter, such as https://charter.example.org.',
    );
  }
  return { smtpUrl, mailFrom };
}

type Checked = CellConfig & {
  readonly nodeEnv: string;
  readonly host: string;
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  readonly keyring: Keyring | undefined;
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
};

/** Throws a StartUpError if the variables contradict each other, although each is valid by itself. */
function requireConsistency(config: Checked): void {
  requirePublicUrl(config);
  requireKeyring(config);
  requireDatabaseUrl(config);
  requireCells(config);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

/**
 * Requires PUBLIC_URL if users on other machines may use the server. A proxy then terminates HTTPS, which the server can know
 * only from PUBLIC_URL. Without PUBLIC_URL, cookies would not be Secure, and the curl command beside a new key would send the key
 * over http. On loopback without a proxy, which may be a trial, the server only warns.
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
 * Requires ENCRYPTION_KEY in production with an external database. Processes on several machines may share that database, and
 * could not decrypt secrets that a process encrypted with a key of its own. In development, or with the embedded PostgreSQL, the
 * key is kept in a file.
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
