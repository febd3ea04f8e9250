import { invalidField } from '../domain/errors.ts';

/** The contract's format allows a leap second, which no Date holds, and an offset that leads past the year 9999. */
export function readInstant(field: string, text: string): Date {
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime()) || instant.getUTCFullYear() > 9999)
    throw invalidField(field, 'is not an instant. Give one such as 2026-01-31T12:00:00Z.');
  return instant;
}
