import { orThrow } from '../../../src/service/outcome.ts';
import { sendTestEvent } from '../../../src/service/webhooks/deliveries.ts';
import { disableEndpoint } from '../../../src/service/webhooks/disabling.ts';
import { rotateWebhookSecret } from '../../../src/service/webhooks/endpoints.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import type { Team } from './team.ts';
import { type Attempt, addEndpoint, countDay, withoutMail, writeAttempts, writeEvent } from './webhooks.ts';

export type RealisticWebhooks = {
  /** An endpoint that receives most events at once. */
  readonly endpointId: string;
  /** Its delivery with a failed attempt before the successful one. */
  readonly retriedId: string;
  /** Its delivery whose attempts all failed. */
  readonly failedId: string;
  /** An endpoint that Charter has disabled. */
  readonly disabledId: string;
};

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
const NO_RESPONSE: Attempt = { status: null, error: 'No response within 15 seconds.', durationMs: 15_002 };
const ACCEPTED: Attempt = { status: 202, body: Uint8Array.from(Buffer.from('{"queued": true}')), durationMs: 87 };
const BROKEN: Attempt = {
  status: 503,
  body: Uint8Array.from(
    Buffer.from('<html>\n<head><title>503 Service Temporarily Unavailable</title></head>\n</html>\n'),
  ),
  durationMs: 41,
};

/** Three endpoints after a week of work: one that is well, one that fails, and one that Charter has disabled. */
export async function addRealisticWebhooks(
  db: Database,
  { administrator, organizationId }: Team,
): Promise<RealisticWebhooks> {
  const { scope } = administrator;
  const { id: endpointId } = await addEndpoint(db, administrator, {
    url: 'https://hooks.northwind.example/charter/parent-programs?source=live',
  });
  const failing = await addEndpoint(db, administrator, {
    url: 'https://enrolment.partner-university.example/integrations/webhooks/v2/charter',
    eventTypes: ['parent_program.created', 'parent_program.deleted'],
  });
  const disabled = await addEndpoint(db, administrator, {
    url: 'https://reports.northwind.example/events',
    eventTypes: ['parent_program.deleted'],
  });
  await disableEndpoint(withoutMail(db), scope, { id: disabled.id, url: disabled.url, reason: 'failing' });
  const failingSince = new Date(Date.now() - 2 * DAY_MS);
  await db.prisma.webhookEndpoint.updateMany({ where: { id: failing.id }, data: { failingSince } });
  orThrow(await rotateWebhookSecret(db, administrator, { endpointId }));
  const now = new Date();
  for (let daysAgo = 0; daysAgo < 7; daysAgo += 1) {
    const succeeded = 640 + Math.round(300 * Math.sin(daysAgo));
    await countDay(
      db,
      { organizationId, endpointId },
      { now, daysAgo, succeeded, failed: daysAgo === 2 ? 180 : daysAgo % 3 },
    );
    await countDay(
      db,
      { organizationId, endpointId: failing.id },
      { now, daysAgo, succeeded: daysAgo > 2 ? 50 : 0, failed: 9 },
    );
  }
  const messages: string[] = [];
  for (let i = 0; i < 30; i += 1) messages.push(await writeEvent(db, scope, `Nordic Business Studies ${i}`));
  const [failedId = '', retriedId = '', ...others] = messages.toReversed();
  const write = (messageId: string, attempts: readonly Attempt[], state?: 'pending' | 'succeeded' | 'failed') =>
    writeAttempts(db, { organizationId, endpointId, messageId }, attempts, state);
  const at = (agoMs: number) => new Date(now.getTime() - agoMs);
  for (const [i, messageId] of others.slice(1).entries())
    await write(messageId, [{ ...ACCEPTED, at: at((i + 2) * 9 * MINUTE_MS) }]);
  await write(others[0] ?? '', [{ ...NO_RESPONSE, at: at(2 * MINUTE_MS) }], 'pending');
  await write(retriedId, [
    { ...NO_RESPONSE, at: at(20 * MINUTE_MS) },
    { ...BROKEN, at: at(19 * MINUTE_MS) },
    { ...ACCEPTED, at: at(14 * MINUTE_MS) },
  ]);
  const tries = Array.from({ length: 8 }, (_, i) => ({
    ...(i % 2 === 0 ? BROKEN : NO_RESPONSE),
    at: at((28 - 3 * i) * HOUR_MS),
  }));
  await write(failedId, tries, 'failed');
  await sendTestEvent(db, administrator, { endpointId });
  return { endpointId, retriedId, failedId, disabledId: disabled.id };
}
