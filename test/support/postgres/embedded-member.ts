// Joins the embedded PostgreSQL of DATA_DIR, prints the URL of PostgreSQL in a line, and leaves when standard input ends.
import { joinEmbeddedPostgres } from '../../../src/postgres/embedded-postgres.ts';

const postgres = await joinEmbeddedPostgres({
  dataDir: process.env['DATA_DIR'] ?? '',
  postgresSettings: { fsync: 'off' },
});
process.stdout.write(`${postgres.url}\n`);
process.stdin.resume().once('end', () => postgres.leave().then(() => process.exit(0)));
