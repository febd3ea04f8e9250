import { isIP } from 'node:net';
import type { ResponseCheck } from './api/response-check.ts';
import { ENVIRONMENTS, type Environment } from './domain/api-key.ts';
import { StartUpError } from './domain/start-up-error.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const MIB = 1024 * 1024;
const RESPONSE_CHECKS = ['off', 'report', 'enforce'] as const;
const NODE_ENVS = ['development', 'production', 'test'] as const;

export type Config = {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly databasePoolSize: number;
  readonly dataDir: string;
  /** For answers that are kept in memory. */
  readonly responseCacheBytes: number;
  /** Of answers against the contract; null: off. */
  readonly responseCheck: ResponseCheck | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly nodeEnv: (typeof NODE_ENVS)[number];
  readonly environment: Environment;
  /** The origin under which people reach the dashboard, such as https://charter.example.org. Undefined: where it listens. */
  readonly publicUrl: string | undefined;
  /** Whose X-Forwarded-For and -Proto are believed: addresses, subnets, or "loopback", "linklocal", "uniquelocal". */
  readonly trustedProxies: readonly string[];
  /** Null: no mail is sent; links are shown to whoever makes them. */
  readonly mail: { readonly smtpUrl: string; readonly mailFrom: string } | null;
};

/** Reads the environment once; a wrong value is refused with its name and what is allowed. An empty one counts as unset. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = (name: string) => env[name] || undefined;
  const nodeEnv = oneOf('NODE_ENV', given('NODE_ENV'), { fallback: 'development', allowed: NODE_ENVS });
  const config = {
    port: integer('PORT', given('PORT'), { fallback: 3000, min: 0, max: 65535 }),
    host: given('HOST') ?? '127.0.0.1',
    databaseUrl: databaseUrl(given('DATABASE_URL')),
    databasePoolSize: integer('DATABASE_POOL_SIZE', given('DATABASE_POOL_SIZE'), { fallback: 10, min: 1, max: 1000 }),
    dataDir: given('DATA_DIR') ?? '.data',
    responseCacheBytes:
      MIB * integer('RESPONSE_CACHE_MIB', given('RESPONSE_CACHE_MIB'), { fallback: 64, min: 0, max: 65536 }),
    responseCheck: responseCheck({ mode: given('RESPONSE_CHECK'), rate: given('RESPONSE_CHECK_SAMPLE_RATE'), nodeEnv }),
    logLevel: oneOf('LOG_LEVEL', given('LOG_LEVEL'), { fallback: 'info', allowed: LOG_LEVELS }),
    nodeEnv,
    environment: oneOf('CHARTER_ENVIRONMENT', given('CHARTER_ENVIRONMENT'), {
      fallback: 'live',
      allowed: ENVIRONMENTS,
    }),
    publicUrl: publicUrl(given('PUBLIC_URL')),
    trustedProxies: trustedProxies(given('TRUSTED_PROXIES')),
    mail: mail({ smtpUrl: given('SMTP_URL'), mailFrom: given('MAIL_FROM'), publicUrl: given('PUBLIC_URL') }),
  };
  refuseUnknownAddress(config);
  return config;
}

function integer(
  name: string,
  text: string | undefined,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw refusal(name, text, `an integer from ${min} to ${max}`);
}

function oneOf<T extends string>(
  name: string,
  text: string | undefined,
  { fallback, allowed }: { fallback: T; allowed: readonly T[] },
): T {
  if (text === undefined) return fallback;
  const value = allowed.find((each) => each === text);
  if (value === undefined) throw refusal(name, text, `one of ${allowed.join(', ')}`);
  return value;
}

type GivenCheck = { mode: string | undefined; rate: string | undefined; nodeEnv: Config['nodeEnv'] };

/** Development reports, so that a demonstration answers as production does, and whoever writes a handler hears of a drift. */
function responseCheck({ nodeEnv, ...given }: GivenCheck): Config['responseCheck'] {
  const fallback = nodeEnv === 'development' ? 'report' : 'off';
  const mode = oneOf('RESPONSE_CHECK', given.mode, { fallback, allowed: RESPONSE_CHECKS });
  const sampleRate = share('RESPONSE_CHECK_SAMPLE_RATE', given.rate);
  if (mode === 'enforce' && sampleRate < 1) {
    throw new StartUpError(
      'RESPONSE_CHECK is "enforce", and RESPONSE_CHECK_SAMPLE_RATE is not 1.',
      'What is enforced is enforced on every answer: leave out RESPONSE_CHECK_SAMPLE_RATE, or give RESPONSE_CHECK=report.',
    );
  }
  return mode === 'off' ? null : { mode, sampleRate };
}

function share(name: string, text: string | undefined): number {
  if (text === undefined) return 1;
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value > 0 && value <= 1) return value;
  throw refusal(name, text, 'a number above 0 and up to 1, such as 0.01');
}

const PROXY_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

function trustedProxies(text: string | undefined): string[] {
  const proxies = (text ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  const isProxy = (proxy: string) => {
    const [address = '', bits = '0', ...rest] = proxy.split('/');
    const isSubnet = isIP(address) !== 0 && /^\d+$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
    return PROXY_NAMES.includes(proxy) || (isSubnet && rest.length === 0);
  };
  if (text === undefined || proxies.every(isProxy)) return proxies;
  throw refusal(
    'TRUSTED_PROXIES',
    text,
    `addresses and subnets with commas between, such as 10.0.0.0/8, or ${PROXY_NAMES.join(', ')}`,
  );
}

function databaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // The value is not repeated: it holds a password.
  if (URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol)) return text;
  throw new StartUpError(
    'DATABASE_URL is not the address of a PostgreSQL.',
    'Give one such as postgresql://user:password@host:5432/charter, or none for the embedded PostgreSQL.',
  );
}

function publicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (isOrigin) return url.origin;
  throw new StartUpError(
    'PUBLIC_URL is not an origin.',
    'Give http or https, a host and at most a port, such as https://charter.example.org, or leave it out.',
  );
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

/**
 * Where people come from elsewhere, a proxy ends HTTPS in front, and what one request says of that may be anybody's word:
 * cookies would go out without "Secure", and the line to paste beside a new key would send it over http. On loopback alone
 * refusing would be too harsh, as it may be a trial: there the server warns.
 */
function refuseUnknownAddress({ nodeEnv, host, trustedProxies, publicUrl }: Omit<Config, 'mail'>): void {
  const isElsewhere = !LOOPBACK.test(host);
  if (nodeEnv !== 'production' || publicUrl !== undefined || (!isElsewhere && trustedProxies.length === 0)) return;
  const why = isElsewhere ? `HOST is "${host}"` : `TRUSTED_PROXIES is "${trustedProxies.join(',')}"`;
  throw new StartUpError(
    `PUBLIC_URL is missing: in production, ${why}, so people come from elsewhere.`,
    'Set PUBLIC_URL to the address under which people reach Charter, such as https://charter.example.org: only with https are the cookies Secure.',
  );
}

const MAIL_FROM = /^([^<>\p{C}]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/u;

function mail(given: Record<'smtpUrl' | 'mailFrom' | 'publicUrl', string | undefined>): Config['mail'] {
  const { smtpUrl, mailFrom } = given;
  if (smtpUrl === undefined && mailFrom === undefined) return null;
  if (smtpUrl === undefined || mailFrom === undefined) {
    const missing = smtpUrl === undefined ? 'SMTP_URL' : 'MAIL_FROM';
    throw new StartUpError(
      `Mail is half configured: ${missing} is missing.`,
      'Give SMTP_URL and MAIL_FROM, or neither.',
    );
  }
  // The value is not repeated: it may hold a password.
  if (!URL.canParse(smtpUrl) || !/^smtps?:$/.test(new URL(smtpUrl).protocol) || new URL(smtpUrl).hostname === '') {
    throw new StartUpError(
      'SMTP_URL is not the address of a mail server.',
      'Give one such as smtps://user:password@mail.example.org, or neither SMTP_URL nor MAIL_FROM.',
    );
  }
  if (!MAIL_FROM.test(mailFrom)) {
    throw refusal('MAIL_FROM', mailFrom, 'an e-mail address, such as Charter <charter@example.org>');
  }
  // A mailed link that took its host from the request would lead where an attacker says.
  if (given.publicUrl === undefined) {
    throw new StartUpError(
      'Mail is configured, but PUBLIC_URL is missing.',
      'Mailed links lead there: give the address under which people reach Charter, such as https://charter.example.org.',
    );
  }
  return { smtpUrl, mailFrom };
}

function refusal(name: string, text: string, allowed: string): StartUpError {
  return new StartUpError(`${name} is ${JSON.stringify(text)}.`, `Give ${allowed}, or leave it out.`);
}
