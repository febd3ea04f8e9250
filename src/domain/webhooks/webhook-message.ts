import { TEST_EVENT_TYPE } from './webhook-endpoint.ts';

/** What is sent as a test event, in the form of the events that `GET /api/events/{id}` returns. */
export function testEventBody({
  messageId,
  createdAt,
}: {
  readonly messageId: string;
  readonly createdAt: Date;
}): string {
  return JSON.stringify({ id: messageId, type: TEST_EVENT_TYPE, timestamp: createdAt.toISOString(), data: {} });
}
