import { availableParallelism } from 'node:os';
import type { ResponseCheck } from './api/response-check.ts';
import { type CellConfig, readCellConfig } from './config-cells.ts';
import { type ContactConfig, readContactConfig } from './config-contact.ts';
import { type ObservabilityConfig, readObservabilityConfig } from './config-observability.ts';
import { requireConsistency } from './config-rules.ts';
import {
  databaseUrl,
  type Given,
  integer,
  invalid,
  keyring,
  networks,
  oneOf,
  origin,
  ratioOf,
} from './config-values.ts';
import { StartUpError } from './domain/errors.ts';
import type { Keyring } from './domain/keyring.ts';
import { ENVIRONMENTS, type Environment } from './domain/keys/api-key.ts';
import { DEFAULT_LIMITS, MAX_REQUESTS_PER_SECOND, type RequestLimits } from './domain/keys/request-limits.ts';
import { parseScannerKeys, type ScannerKeys } from './domain/keys/secret-scanning.ts';
import { canonicalNetwork } from './domain/network.ts';
import type { WebhookTargets } from './domain/webhooks/forbidden-address.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const MIB = 1024 * 1024;
const RESPONSE_CHECKS = ['off', 'report', 'enforce'] as const;
const NEWER_DATABASE = ['refuse', 'accept'] as const;
const NODE_ENVS = ['development', 'production', 'test'] as const;
const BOOLEANS = ['true', 'false'] as const;

export type Config = CellConfig &
  ObservabilityConfig &
  ContactConfig & {
    /** 0 takes any free port. */
    readonly port: number;
    readonly host: string;
    /** Processes that serve the port. */
    readonly workers: number;
    /** The embedded PostgreSQL in `dataDir` is used if it is omitted. */
    readonly databaseUrl: string | undefined;
    /** PostgreSQL itself, if `databaseUrl` is a connection pooler. */
    readonly databaseDirectUrl: string | undefined;
    readonly databasePoolSize: number;
    /** Whether to start although a newer version has migrated the database. */
    readonly acceptsNewerDatabase: boolean;
    readonly dataDir: string;
    /** Encrypts secrets in the database. The key in a file in `dataDir` is used if it is omitted. */
    readonly keyring: Keyring | undefined;
    readonly requestLimits: RequestLimits;
    /** Size of the response cache. */
    readonly responseCacheBytes: number;
    /** Response validation; null disables it. */
    readonly responseCheck: ResponseCheck | null;
    /** How long the events of the feed are kept. */
    readonly eventRetentionDays: number;
    readonly webhooks: WebhookTargets;
    /** How long the server accepts new connections after a signal to stop, while /readyz returns 503. */
    readonly drainSeconds: number;
    readonly logLevel: (typeof LOG_LEVELS)[number];
    readonly nodeEnv: (typeof NODE_ENVS)[number];
    readonly environment: Environment;
    /** Origin of the dashboard, such as https://charter.example.org. The one that the browser called is used if it is omitted. */
    readonly publicUrl: string | undefined;
    /** Proxies whose X-Forwarded-For and -Proto are trusted: addresses, subnets, "loopback", "linklocal", "uniquelocal". */
    readonly trustedProxies: readonly string[];
    /** The public keys with which a secret scanner signs its reports of leaked keys. */
    readonly scannerKeys: ScannerKeys;
  };

/** The name of a file or folder may end with a line break. */
const PATHS = ['DATA_DIR', 'CHARTER_CELL_DOMAINS'];

/** Reads and validates the environment variables; an empty one counts as unset. Throws a StartUpError for an invalid one. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // Files of variables and secrets often end with a line break, which then becomes part of the value.
  const given: Given = (name) =>
    (PATHS.includes(name) ? env[name] : env[name]?.replaceAll(/^[\r\n]+|[\r\n]+$/g, '')) || undefined;
  const nodeEnv = oneOf('NODE_ENV', given('NODE_ENV'), { fallback: 'development', allowed: NODE_ENVS });
  const config = {
    port: integer('PORT', given('PORT'), { fallback: 3000, min: 0, max: 65535 }),
    host: given('HOST') ?? '127.0.0.1',
    workers: workers(given('WORKERS')),
    databaseUrl: databaseUrl('DATABASE_URL', given('DATABASE_URL')),
    databaseDirectUrl: databaseUrl('DATABASE_DIRECT_URL', given('DATABASE_DIRECT_URL')),
    databasePoolSize: integer('DATABASE_POOL_SIZE', given('DATABASE_POOL_SIZE'), { fallback: 10, min: 1, max: 1000 }),
    acceptsNewerDatabase:
      oneOf('NEWER_DATABASE', given('NEWER_DATABASE'), { fallback: 'refuse', allowed: NEWER_DATABASE }) === 'accept',
    dataDir: given('DATA_DIR') ?? '.data',
    keyring: keyring(given('ENCRYPTION_KEY')),
    requestLimits: {
      perKey: perSecond('RATE_LIMIT_PER_KEY', given('RATE_LIMIT_PER_KEY'), DEFAULT_LIMITS.perKey),
      perOrganization: perSecond(
        'RATE_LIMIT_PER_ORGANIZATION',
        given('RATE_LIMIT_PER_ORGANIZATION'),
        DEFAULT_LIMITS.perOrganization,
      ),
      perAddress: perSecond('RATE_LIMIT_PER_ADDRESS', given('RATE_LIMIT_PER_ADDRESS'), DEFAULT_LIMITS.perAddress),
    },
    responseCacheBytes:
      MIB * integer('RESPONSE_CACHE_MIB', given('RESPONSE_CACHE_MIB'), { fallback: 64, min: 0, max: 65536 }),
    responseCheck: responseCheck({ mode: given('RESPONSE_CHECK'), rate: given('RESPONSE_CHECK_SAMPLE_RATE'), nodeEnv }),
    eventRetentionDays: integer('EVENT_RETENTION_DAYS', given('EVENT_RETENTION_DAYS'), {
      fallback: 30,
      // The last attempt of a webhook comes up to 31 hours after its event.
      min: 2,
      max: 365,
    }),
    webhooks: {
      allowHttp:
        oneOf('WEBHOOKS_ALLOW_HTTP', given('WEBHOOKS_ALLOW_HTTP'), { fallback: 'false', allowed: BOOLEANS }) === 'true',
      allowedNetworks: networks('WEBHOOKS_ALLOWED_NETWORKS', given('WEBHOOKS_ALLOWED_NETWORKS')),
    },
    drainSeconds: integer('DRAIN_SECONDS', given('DRAIN_SECONDS'), { fallback: 0, min: 0, max: 300 }),
    ...readObservabilityConfig(given),
    logLevel: oneOf('LOG_LEVEL', given('LOG_LEVEL'), { fallback: 'info', allowed: LOG_LEVELS }),
    nodeEnv,
    environment: oneOf('CHARTER_ENVIRONMENT', given('CHARTER_ENVIRONMENT'), {
      fallback: 'live',
      allowed: ENVIRONMENTS,
    }),
    ...readCellConfig(given),
    publicUrl: origin('PUBLIC_URL', given('PUBLIC_URL')),
    trustedProxies: trustedProxies(given('TRUSTED_PROXIES')),
    scannerKeys: scannerKeys(given('SECRET_SCANNING_KEYS')),
    ...readContactConfig(given),
  };
  requireConsistency(config);
  return config;
}

const MAX_WORKERS = 256;

function workers(text: string | undefined): number {
  if (text === 'auto') return availableParallelism();
  if (text !== undefined && !/^\d+$/.test(text))
    throw invalid('WORKERS', text, `"auto" or an integer from 1 to ${MAX_WORKERS}`);
  return integer('WORKERS', text, { fallback: 1, min: 1, max: MAX_WORKERS });
}

function perSecond(name: string, text: string | undefined, fallback: number): number {
  return integer(name, text, { fallback, min: 0, max: MAX_REQUESTS_PER_SECOND });
}

type GivenCheck = { mode: string | undefined; rate: string | undefined; nodeEnv: Config['nodeEnv'] };

/** In development, broken responses are reported but sent, so that a demonstration behaves as production does. */
function responseCheck({ nodeEnv, ...given }: GivenCheck): Config['responseCheck'] {
  const fallback = nodeEnv === 'development' ? 'report' : 'off';
  const mode = oneOf('RESPONSE_CHECK', given.mode, { fallback, allowed: RESPONSE_CHECKS });
  const sampleRate = ratioOf('RESPONSE_CHECK_SAMPLE_RATE', given.rate, { allowsZero: false });
  if (mode === 'enforce' && sampleRate < 1) {
    throw new StartUpError(
      'RESPONSE_CHECK is "enforce", but RESPONSE_CHECK_SAMPLE_RATE is not 1.',
      '"enforce" checks every response: unset RESPONSE_CHECK_SAMPLE_RATE, or set RESPONSE_CHECK=report.',
    );
  }
  return mode === 'off' ? null : { mode, sampleRate };
}

const PROXY_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

/** Express refuses a subnet of all addresses: every client could then choose its own address. */
function trustedProxies(text: string | undefined): string[] {
  const given = networks('TRUSTED_PROXIES', text, PROXY_NAMES);
  if (!given.some((each) => (canonicalNetwork(each) ?? each).endsWith('/0'))) return given;
  throw invalid('TRUSTED_PROXIES', text ?? '', 'the addresses and subnets of your proxies, such as 10.0.0.0/8');
}

function scannerKeys(text: string | undefined): ScannerKeys {
  if (text === undefined) return new Map();
  const keys = parseScannerKeys(text);
  if (keys !== null) return keys;
  throw invalid(
    'SECRET_SCANNING_KEYS',
    text,
    'the identifier and the base64 of a P-256 public key, such as 90a42116…:MFkwEwYHKoZI…, several separated by commas',
  );
}
