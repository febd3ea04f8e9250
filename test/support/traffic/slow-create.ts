import { connect, type Socket } from 'node:net';
import { until } from '../wait.ts';

const BODY = JSON.stringify({ name: 'Sent slowly' });
const FIRST_BYTES = 5;

export type SlowCreate = {
  readonly socket: Socket;
  readonly received: { text: string };
  readonly closed: Promise<void>;
  /** Sends the rest of the body. */
  finish(): void;
};

/** A create with only its head and half of its body sent: it stays in flight until the test finishes it. */
export async function beginCreate({ url }: { readonly url: string }, key: string): Promise<SlowCreate> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const received = { text: '' };
  socket.on('data', (chunk) => {
    received.text += chunk.toString();
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  const head = ['POST /api/parent_programs HTTP/1.1', 'Host: charter.test', `Authorization: Bearer ${key}`];
  const more = ['Content-Type: application/json', `Content-Length: ${BODY.length}`, 'Expect: 100-continue', '', ''];
  socket.write([...head, ...more].join('\r\n'));
  // Node sends 100 Continue when it passes the request to the application.
  await until('the request to be in flight', () => received.text.startsWith('HTTP/1.1 100'));
  socket.write(BODY.slice(0, FIRST_BYTES));
  return { socket, received, closed, finish: () => socket.write(BODY.slice(FIRST_BYTES)) };
}
