import { EventEmitter } from 'node:events';
import { createDatabaseQueues } from '../../src/traffic/fair-queue.ts';
import { microtasks, until } from '../support/wait.ts';

// The attack: made-up sessions and links keep the processors busy, which the requests of the API need, too.
test('a network that floods the dashboard pauses while an organization sends a request of the API', async () => {
  const queues = createDatabaseQueues(10);
  const connection = Object.assign(new EventEmitter(), { destroyed: false, readableEnded: false });
  const first = Promise.withResolvers<void>();
  let begun = 0;
  const task = () => {
    begun += 1;
    return first.promise;
  };
  const pages = ['192.0.2.1', '192.0.2.1'].map((network) => queues.dashboard.run(network, connection, task));
  await queues.api.run('organization', connection, () => undefined);
  first.resolve();
  await microtasks();
  expect(begun).toBe(1);
  await until('the end of the pause', () => begun === 2);
  await Promise.all(pages);
});
