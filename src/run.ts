import { createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { StartUpError } from './domain/start-up-error.ts';
import { startHousekeeping } from './operations/housekeeping.ts';
import { createLogger, type Logger } from './operations/logs.ts';
import { connect } from './postgres/connect.ts';
import { openPublication } from './publication/routes.ts';
import { requestedStop, type Stop } from './requested-stop.ts';
import { listen } from './server.ts';
import { type KeyUses, startKeyUses } from './service/last-used.ts';
import { createOutbox, type Outbox } from './service/mail.ts';
import type { Database } from './store/database.ts';

/** Serves until it is told to stop; resolves then, with the exit code set. */
export async function run(): Promise<void> {
  // From the first moment, so that a signal in the middle of the start leaves no PostgreSQL behind.
  const stop = requestedStop();
  try {
    await main(stop);
  } catch (error) {
    if (!(error instanceof StartUpError)) throw error;
    // A terminal's Ctrl-C interrupts what PostgreSQL is made with as well: that it fails is no reason to tell.
    if (!stop.isRequested()) {
      process.stderr.write(`\nCharter cannot start. ${error.message}\n  ${error.remedy}\n`);
      process.exitCode = 1;
    }
  } finally {
    // Listening for the end of the parent would keep this process.
    process.channel?.unref();
  }
}

async function main(stop: Stop): Promise<void> {
  const config = readConfig(process.env);
  const logger = createLogger(config.logLevel);
  const outbox = createOutbox(config.mail, (error) => logger.warn({ err: error }, 'a mail could not be sent'));
  const { db, leave } = await connect(config, (error) => logger.warn({ err: error }, 'a database connection ended'));
  const keyUses = startKeyUses(db, {
    onFailure: (error) => logger.warn({ err: error }, 'when keys were last used could not be written; will try again'),
  });
  try {
    if (!stop.isRequested()) await serve({ config, db, logger, keyUses, outbox, stop });
    await Promise.all([keyUses.stop(), outbox.settle()]);
  } finally {
    await leave();
  }
  logger.info({ reason: await stop.reason }, 'stopped');
}

type Serving = {
  config: Config;
  db: Database;
  logger: Logger;
  keyUses: KeyUses;
  outbox: Outbox;
  stop: Stop;
};

async function serve({ config, db, logger, keyUses, outbox, stop }: Serving): Promise<void> {
  let isStopping = false;
  const { environment, publicUrl, trustedProxies, responseCacheBytes, responseCheck } = config;
  const publication = openPublication();
  const app = await createApp({
    ...{ db, logger, environment, keyUses, outbox, publicUrl, trustedProxies, responseCacheBytes, responseCheck },
    publication,
    isStopping: () => isStopping,
  });
  const demonstration = config.nodeEnv === 'production' ? undefined : await import('./welcome.ts');
  await demonstration?.seed(db);
  if (stop.isRequested()) return;
  const server = await listen(app, { ...config, onUnreadable: (seen) => logger.info(seen, 'what came is not HTTP') });
  stop.started();
  warnOfSettings(config, logger);
  const endHousekeeping = startHousekeeping(db, logger);
  logger.info({ url: server.url, environment }, 'Charter serves');
  // In the background, and never a reason to fail: what is not there is told to whoever asks for it.
  void publication.prepare();
  // A welcome never ends a server that serves.
  const welcome = demonstration?.welcome(db, { url: server.url, environment }).catch((error: unknown) => {
    logger.warn({ err: error }, 'the demonstration could not be shown');
  });
  process.stdout.write((await welcome) ?? '');
  const reason = await stop.reason;
  isStopping = true;
  logger.info({ reason }, 'finishing what is in flight');
  endHousekeeping();
  await server.stop();
}

/** Of what may be meant so, and is likelier forgotten. */
function warnOfSettings({ nodeEnv, publicUrl, trustedProxies }: Config, logger: Logger): void {
  if (publicUrl?.startsWith('https:') && trustedProxies.length === 0) {
    logger.warn(
      'PUBLIC_URL is https, so a proxy stands in front: set TRUSTED_PROXIES, or all people share its address',
    );
  }
  if (publicUrl === undefined && nodeEnv === 'production')
    logger.warn('PUBLIC_URL is missing: cookies are not Secure, so let nobody in through a proxy before it is set');
}
