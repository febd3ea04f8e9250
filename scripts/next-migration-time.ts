import { readMigrations } from '../src/postgres/migrations.ts';

/**
 * Returns the time for the name of a new migration (YYYYMMDDHHMMSS). This time is later than the time of the last migration, even
 * if the last migration's time is in the future.
 */
export async function nextMigrationTime(): Promise<string> {
  const last = (await readMigrations()).at(-1)?.name.slice(0, 14) ?? '0';
  const now = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  return now > last ? now : String(Number(last) + 1);
}
