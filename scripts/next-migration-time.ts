import { readMigrations } from '../src/postgres/migrations.ts';

/** The time that begins the name of a new migration (YYYYMMDDHHMMSS): later than the last one, even if that is ahead of this clock. */
export async function nextMigrationTime(): Promise<string> {
  const last = (await readMigrations()).at(-1)?.name.slice(0, 14) ?? '0';
  const now = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  return now > last ? now : String(Number(last) + 1);
}
