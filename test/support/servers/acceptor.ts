// Accepts connections and hands them over through the IPC channel, as the supervisor of WORKERS does.
import { createServer } from 'node:net';
import { listenOn, stopListening } from '../../../src/listen-on.ts';

let accepted = 0;
const listener = createServer({ pauseOnConnect: true }, (socket) => {
  accepted += 1;
  process.send?.({ kind: 'connection', id: accepted }, socket);
});
const url = await listenOn(listener, { host: '127.0.0.1', port: 0 }, { host: 'HOST', port: 'PORT' });
process.on('message', ({ kind }: { kind: string }) => {
  if (kind === 'leaving') void stopListening(listener).then(() => process.send?.({ kind: 'no more connections' }));
});
process.send?.({ kind: 'listening', url });
