import type { IncomingMessage, ServerResponse } from 'node:http';
import { entityTagOf, satisfiesIfNoneMatch } from './conditional.ts';
import type { Exception } from './exceptions.ts';
import type { Answer, Plan } from './plan.ts';

export function writeAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  { plan, answer }: { plan: Plan; answer: Answer },
): void {
  const bytes = answer.body === null ? undefined : Buffer.from(JSON.stringify(answer.body));
  const caching: Record<string, string> = { 'Cache-Control': plan.isConditional ? 'private, no-cache' : 'no-store' };
  const entityTag = plan.hasEntityTag && bytes !== undefined ? entityTagOf(bytes) : undefined;
  if (entityTag !== undefined) caching['ETag'] = entityTag;
  if (plan.isConditional && entityTag !== undefined && !satisfiesIfNoneMatch(req.headers['if-none-match'], entityTag)) {
    // RFC 9110 section 15.4.5: of the headers, only those that a cache needs.
    send(req, res, { status: 304, headers: caching, bytes: undefined });
  } else {
    send(req, res, { status: answer.status, headers: { ...answer.headers, ...caching }, bytes });
  }
}

export function writeException(req: IncomingMessage, res: ServerResponse, exception: Exception): void {
  if (res.headersSent || res.destroyed) return;
  const headers = { ...exception.headers, 'Cache-Control': 'no-store' };
  send(req, res, { status: exception.status, headers, bytes: Buffer.from(JSON.stringify(exception.body)) });
}

type Message = { status: number; headers: Record<string, string | undefined>; bytes: Buffer | undefined };

function send(req: IncomingMessage, res: ServerResponse, { status, headers, bytes }: Message): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
  if (bytes !== undefined) {
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.setHeader('Content-Length', bytes.length);
  }
  res.statusCode = status;
  // A string, a character a byte: those Node sends in one piece with the headers, and without encoding them again.
  res.end(req.method === 'HEAD' ? undefined : bytes?.toString('latin1'), 'latin1');
}
