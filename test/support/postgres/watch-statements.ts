// Checks every statement that src/ sends: it must name the organization for each table, or the function that sends it must be
// listed here.
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Database } from '../../../src/store/sql/database.ts';
import { type Owners, unlimitedTables } from './statement-scope.ts';
import { intercept, statementOf } from './statements.ts';

/**
 * Functions in src/store, by file, that may send statements without naming the organization. All functions in unscoped/ may send
 * such statements, too.
 */
export const WITHOUT_SCOPE: Readonly<Record<string, readonly string[]>> = {
  // These functions cover all organizations in one statement: housekeeping, actions of operators, uses of keys, notices about
  // keys, encryption keys, names of earlier API keys, the delivery of webhooks, reports of leaked keys, and the rows of a cell.
  'people/access-links.ts': ['deleteExpiredAccessLinks'],
  'organizations/cells.ts': ['countRowsOfCell', 'listDomainsOfCell', 'listKeysOfOtherCells'],
  'resources/events.ts': ['deleteExpiredEvents'],
  'resources/idempotency-keys.ts': ['deleteExpiredIdempotencyKeys'],
  'keys/api-keys.ts': ['fillNameKeys'],
  'keys/key-checks.ts': ['writeDueKeyNotices', 'endUnusedKeys'],
  'keys/key-requests.ts': ['deleteOldKeyRequests', 'writeKeyRequests'],
  'keys/key-notices.ts': ['claimNoticeMails', 'deleteOldKeyNotices', 'markMailed'],
  'keys/key-uses.ts': ['deleteOldKeyNetworks', 'deleteOldKeyUses', 'noteNetworks', 'writeKeyUses'],
  'keys/operation-uses.ts': ['deleteOldOperationUses'],
  'audit/audit.ts': ['listOperatorActions', 'recordOperatorAction'],
  'keys/reported-keys.ts': ['listConcernedPeople', 'revokeReportedKeys'],
  'sql/secrets.ts': ['retireOtherKeys'],
  'people/sessions.ts': ['deleteExpiredSessions'],
  'people/single-sign-on.ts': ['deleteExpiredSsoSignIns'],
  'people/stored-emails.ts': ['hasUnusualEmails', 'markInvited', 'normalizeEmails', 'normalizeNoticeEmails'],
  'webhooks/webhook-deliveries.ts': [
    ...['claimDeliveries', 'countPendingDeliveries', 'listPendingEndpoints', 'recordAttempts'],
  ],
  'webhooks/webhook-history.ts': ['deleteExpiredDeliveries', 'deleteOldWebhookDays', 'eraseExpiredPreviousSecrets'],
  // These functions are for challenges and failed sign-ins, before the organization is known, and for the rate limits of all
  // organizations.
  'people/passkeys.ts': ['deleteExpiredChallenges', 'insertChallenge', 'takeChallenge'],
  'keys/rate-limits.ts': ['deleteIdleRateLimits', 'leaseTokens'],
  'people/sign-in-failures.ts': [
    ...['countAttempt', 'deleteExpiredSignInFailures', 'isRemembered', 'recordUnknownEmail', 'remember'],
    ...['resetAttempts', 'takeBackAttempt'],
  ],
};

type Options = {
  readonly report?: (error: Error) => void;
  /** Returns whether a function may send statements without naming the organization. */
  readonly isAllowed?: (sender: string) => boolean;
};

/**
 * Returns the database with a check of each statement that src/ sends. A statement that does not name the organization fails the
 * running test. Statements that a test itself sends are not checked.
 */
export function watchStatements(db: Database, { report = failTest, isAllowed = isListed }: Options = {}): Database {
  const onStatement = (parameters: readonly unknown[]) => {
    const { text } = statementOf(parameters);
    const tables = tablesWithoutOrganization(text);
    const sender = tables.length === 0 ? null : senderOf(calls.getStore() ?? here());
    if (sender === null || isAllowed(sender)) return;
    report(new Error(`${sender} sends a statement that does not name the organization for ${tables}:\n${text}`));
  };
  intercept(db.pool, { onStatement, onConnection: () => onStatement });
  return { ...db, prisma: watchPrisma(db.prisma) };
}

/** Fails the running test with an unhandled rejection, because the code that sent the statement could handle a thrown error. */
function failTest(error: Error): void {
  void Promise.reject(error);
}

const judged = new Map<string, readonly string[]>();

function tablesWithoutOrganization(text: string): readonly string[] {
  const tables = judged.get(text) ?? unlimitedTables(text, OWNERS);
  judged.set(text, tables);
  return tables;
}

const ROOT = join(import.meta.dirname, '../../..');

/** The tables with rows of organizations, read from the schema, so that no table is forgotten. */
const OWNERS: Owners = new Map(
  readFileSync(join(ROOT, 'prisma/schema.prisma'), 'utf8')
    .split(/^model /m)
    .flatMap((model): [string, string][] => {
      const table = /@@map\("(\w+)"\)/.exec(model)?.[1] ?? '';
      if (table === 'organizations') return [[table, 'id']];
      const [, owner] = /@map\("((?:organization|about)_id)"\)/.exec(model) ?? [];
      return owner === undefined ? [] : [[table, owner]];
    }),
);

/** The stack where Prisma was called. Prisma sends a statement only later, when the result is awaited. */
const calls = new AsyncLocalStorage<Error>();

/** Returns a proxy of a Prisma client, of a transaction's client, or of a model. */
function watchPrisma<T extends object>(client: T): T {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (isFunction(value)) return (...parameters: unknown[]) => call(value, target, parameters);
      return typeof value === 'object' && value !== null ? watchPrisma(value) : value;
    },
  });
}

type Callable = (...parameters: unknown[]) => unknown;

function isFunction(value: unknown): value is Callable {
  return typeof value === 'function';
}

function call(method: Callable, target: object, parameters: unknown[]): unknown {
  const [work, ...others] = parameters;
  if (isFunction(work)) {
    const watch = (tx: object) => work(watchPrisma(tx));
    return Reflect.apply(method, target, [watch, ...others]);
  }
  const result = Reflect.apply(method, target, parameters);
  return typeof result === 'object' && result !== null && 'then' in result ? withCaller(here(), result) : result;
}

function withCaller(caller: Error, result: object): object {
  return new Proxy(result, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (!isFunction(value)) return value;
      return (...parameters: unknown[]) => {
        const bound = parameters.map((each) => (isFunction(each) ? AsyncLocalStorage.bind(each) : each));
        return calls.run(caller, () => Reflect.apply(value, target, bound));
      };
    },
  });
}

function here(): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const error = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

const OWN_FILES = 'support/postgres/(?:watch-)?statements';
const FRAME = new RegExp(`${pathToFileURL(ROOT).href}/((?:src|test/(?!${OWN_FILES})).*?\\.ts)[^:]*:(\\d+):`);
const DECLARATION = /^(?:export )?(?:async )?(?:function\*?|const|class) (\w+)/;

/**
 * Returns the file and the function that sent a statement, such as "src/store/resources/rows.ts findRow"; `null` for code of the
 * tests.
 */
function senderOf({ stack = '' }: Error): string | null {
  const [, file, line] = FRAME.exec(stack) ?? [];
  if (file === undefined) return stack;
  if (!file.startsWith('src')) return null;
  const above = readFileSync(join(ROOT, file), 'utf8').split('\n').slice(0, Number(line));
  const name = above.map((text) => DECLARATION.exec(text)?.[1]).findLast((each) => each !== undefined);
  return `${file} ${name}`;
}

function isListed(sender: string): boolean {
  const [file = '', name = ''] = sender.replace('src/store/', '').split(' ');
  return file.startsWith('unscoped/') || WITHOUT_SCOPE[file]?.includes(name) === true;
}
