import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDatabaseQueues, FairQueue, type FairQueueOptions, LightLoad } from '../../src/traffic/fair-queue.ts';
import { outcomeOf } from '../support/data/actors.ts';
import { microtasks, until } from '../support/wait.ts';

const REFUSED = 'unavailable: Too many requests wait for the database.';
const ABANDONED = 'unavailable: The client closed its connection or its sending side.';

class TestConnection extends EventEmitter {
  destroyed = false;
  readableEnded = false;

  close(): void {
    this.destroyed = true;
    this.emit('close');
  }

  end(): void {
    this.readableEnded = true;
    this.emit('end');
  }
}

/** Returns functions that start and end tasks, and the names of the tasks in the order in which they began. */
function startTasks(options: Partial<FairQueueOptions> = {}) {
  const queue = new FairQueue({
    name: 'api',
    permits: 2,
    permitsPerTenant: 1,
    permitsAlone: 1,
    maxWaitMs: 60_000,
    ...options,
  });
  const begun: string[] = [];
  const endings = new Map<string, () => void>();
  const start = (name: string, connection = new TestConnection(), extraItems = 0) => {
    const task = () =>
      new Promise<string>((resolve) => {
        begun.push(name);
        endings.set(name, () => resolve(name));
      });
    return outcomeOf(queue.run(name[0] ?? '', connection, task, { extraItems }));
  };
  const end = async (name: string) => {
    endings.get(name)?.();
    await nextTurn();
  };
  /** Ends a task, and returns before any timer can fire. */
  const endWithoutTimers = async (name: string) => {
    endings.get(name)?.();
    await microtasks();
  };
  return { queue, begun, start, end, endWithoutTimers };
}

type Advance = (milliseconds: number) => Promise<void>;

/** Stops the clock and the timers of the queue while the test runs. `advance` moves the clock and the timers. */
async function withStoppedClock(run: (advance: Advance) => Promise<void>): Promise<void> {
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    await run(async (milliseconds) => {
      for (let i = 0; i < milliseconds; i += 1) {
        now += 1;
        mock.timers.tick(1);
        await microtasks();
      }
    });
  } finally {
    mock.timers.reset();
    clock.mockRestore();
  }
}

test('a task begins at once while there is a permit, and the others wait for one', async () => {
  const { begun, start, end } = startTasks({ permitsPerTenant: 2, permitsAlone: 2 });
  const [first] = [start('a1'), start('a2'), start('a3')];
  expect(begun).toEqual(['a1', 'a2']);
  await end('a1');
  expect(await first).toBe('done');
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

// The attack: one organization has as many waiting requests as it can.
test('a tenant with one task has its turn after one task of a tenant with a thousand', async () => {
  const { begun, start, end } = startTasks();
  for (let i = 0; i < 1000; i += 1) void start(`a${i}`);
  void start('b0');
  expect(begun).toEqual(['a0', 'b0']);
  void start('c0');
  void start('b1');
  await end('a0');
  expect(begun.slice(2)).toEqual(['c0']);
  await end('c0');
  expect(begun.slice(2)).toEqual(['c0', 'a1']);
  await end('b0');
  expect(begun.slice(2)).toEqual(['c0', 'a1', 'b1']);
});

test('tenants take turns, and each of them has its tasks run in order of arrival', async () => {
  const { begun, start, end } = startTasks({ permits: 1 });
  for (const name of ['a0', 'a1', 'a2', 'b0', 'b1', 'c0']) void start(name);
  for (let i = 0; i < 6; i += 1) await end(begun.at(-1) ?? '');
  expect(begun).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
});

// The attack: one organization sends batches, each of which takes as long as many requests.
test('a batch of 21 changes gives the next two turns to the other tenants, as far as they have tasks', async () => {
  const { begun, start, end } = startTasks({ permits: 1 });
  for (const name of ['a0', 'a1', 'a2']) void start(name, new TestConnection(), 20);
  for (const name of ['b0', 'b1', 'b2', 'b3', 'b4']) void start(name);
  for (let i = 0; i < 8; i += 1) await end(begun.at(-1) ?? '');
  expect(begun).toEqual(['a0', 'b0', 'b1', 'b2', 'a1', 'b3', 'b4', 'a2']);
});

test('a tenant has its share while others have tasks, and all permits but one while it is alone', async () => {
  const { begun, start, end } = startTasks({ permits: 4, permitsPerTenant: 2, permitsAlone: 3 });
  for (const name of ['a0', 'a1', 'a2', 'a3', 'a4', 'b0', 'b1', 'b2']) void start(name);
  // While "a" was alone, it left one permit free, which "b" gets.
  expect(begun).toEqual(['a0', 'a1', 'a2', 'b0']);
  await end('a0');
  await end('a1');
  expect(begun.slice(4)).toEqual(['b1', 'a3']);
  await end('b0');
  await end('b1');
  await end('a2');
  expect(begun.slice(6)).toEqual(['b2', 'a4']);
});

test('a task that fails gives its permit back', async () => {
  const { queue, begun, start } = startTasks({ permits: 1 });
  const failing = queue.run('a', new TestConnection(), () => Promise.reject(new Error('It failed.')));
  await expect(failing).rejects.toThrow('It failed.');
  void start('b');
  expect(begun).toEqual(['b']);
});

test('a task leaves the queue when its connection closes, and never begins', async () => {
  const { begun, start, end } = startTasks({ maxWaiting: 1 });
  void start('a0');
  const gone = new TestConnection();
  const abandoned = start('a1', gone);
  expect(await start('a2')).toBe(REFUSED);
  gone.close();
  expect(await abandoned).toBe(ABANDONED);
  void start('a3');
  await end('a0');
  expect(begun).toEqual(['a0', 'a3']);
  expect(await start('b0', gone)).toBe(ABANDONED);
});

test('a task that would have to wait, or waits, leaves the queue when its client closes the sending side', async () => {
  const { begun, start, end } = startTasks();
  const [early, late] = [new TestConnection(), new TestConnection()];
  early.end();
  const first = start('a0', early);
  expect(begun).toEqual(['a0']);
  expect(await start('a1', early)).toBe(ABANDONED);
  const waiting = start('a2', late);
  late.end();
  expect(await waiting).toBe(ABANDONED);
  await end('a0');
  expect(await first).toBe('done');
  expect(begun).toEqual(['a0']);
  // A task that has left the queue leaves no listener behind.
  expect([late.listenerCount('close'), late.listenerCount('end')]).toEqual([0, 0]);
});

test('a full queue of one tenant refuses at once, and takes tasks of another', async () => {
  const { begun, start } = startTasks({ permits: 1, maxWaiting: 2 });
  for (const name of ['a0', 'a1', 'a2', 'b0']) void start(name);
  expect(await start('a3')).toBe(REFUSED);
  expect(begun).toEqual(['a0']);
});

test('tasks that have waited too long are refused, oldest first, and their places are free again', () =>
  withStoppedClock(async (advance) => {
    const { begun, start, endWithoutTimers } = startTasks({ maxWaitMs: 100, maxWaiting: 2 });
    void start('a0');
    const refused: string[] = [];
    for (const name of ['a1', 'a2']) void start(name).then((outcome) => refused.push(`${name} ${outcome}`));
    await advance(101);
    expect(refused).toEqual([`a1 ${REFUSED}`, `a2 ${REFUSED}`]);
    void start('a3');
    await endWithoutTimers('a0');
    expect(begun).toEqual(['a0', 'a3']);
  }));

test('a later task has its own time, after an earlier one was refused', () =>
  withStoppedClock(async (advance) => {
    const { start } = startTasks({ maxWaitMs: 300 });
    const refused: string[] = [];
    for (const name of ['a0', 'a1', 'a2']) {
      void start(name).then(() => refused.push(name));
      await advance(150);
    }
    await advance(1);
    expect(refused).toEqual(['a1']);
    await advance(148);
    expect(refused).toEqual(['a1']);
    await advance(2);
    expect(refused).toEqual(['a1', 'a2']);
  }));

// The attack: one organization keeps the processors busy while another one sends one request after another.
test('a tenant with waiting tasks pauses after a task while another one uses less than its share', async () => {
  const { begun, start, end, endWithoutTimers } = startTasks({ lightLoad: new LightLoad() });
  for (const name of ['a0', 'a1', 'a2', 'b0']) void start(name);
  await endWithoutTimers('a0');
  expect(begun).toEqual(['a0', 'b0']);
  await until('the end of the pause', () => begun.includes('a1'));
  await end('b0');
  void start('b1');
  await endWithoutTimers('a1');
  expect(begun).toEqual(['a0', 'b0', 'a1', 'b1']);
  await until('the end of the pause', () => begun.includes('a2'));
});

test('two tenants that use all permits pause while a third one uses less than its share', async () => {
  const { begun, start, endWithoutTimers } = startTasks({ lightLoad: new LightLoad() });
  for (const name of ['a0', 'a1', 'b0', 'b1', 'c0']) void start(name);
  await endWithoutTimers('a0');
  await endWithoutTimers('b0');
  expect(begun).toEqual(['a0', 'b0', 'c0']);
  // One permit is free again, for the tenant whose pause ends first.
  await until('the end of a pause', () => begun.length === 4);
});

test('a tenant that pauses has its next task wait, too, even if there is a permit', async () => {
  const { begun, start, endWithoutTimers } = startTasks({
    permits: 3,
    permitsPerTenant: 2,
    lightLoad: new LightLoad(),
  });
  const gone = new TestConnection();
  for (const name of ['a0', 'a1']) void start(name);
  void start('a2', gone);
  void start('b0');
  await endWithoutTimers('a0');
  gone.close();
  void start('a3');
  await microtasks();
  expect(begun).toEqual(['a0', 'a1', 'b0']);
  await until('the end of the pause', () => begun.includes('a3'));
});

test('no tenant pauses while it is alone, or while all others have their share', async () => {
  const { begun, start, endWithoutTimers } = startTasks({ lightLoad: new LightLoad() });
  for (const name of ['a0', 'a1', 'a2']) void start(name);
  await endWithoutTimers('a0');
  expect(begun).toEqual(['a0', 'a1']);
  void start('b0');
  void start('b1');
  await endWithoutTimers('a1');
  expect(begun).toEqual(['a0', 'a1', 'b0', 'a2']);
});

test('a tenant pauses for as long as its task took while another one pauses for longer', () =>
  withStoppedClock(async (advance) => {
    const { begun, start, endWithoutTimers } = startTasks({ permits: 3, lightLoad: new LightLoad() });
    for (const name of ['a0', 'a1']) void start(name);
    await advance(20);
    for (const name of ['b0', 'b1', 'c0']) void start(name);
    await advance(2);
    await endWithoutTimers('a0');
    await endWithoutTimers('b0');
    await advance(1);
    expect(begun).toEqual(['a0', 'b0', 'c0']);
    await advance(1);
    expect(begun).toEqual(['a0', 'b0', 'c0', 'b1']);
    await advance(19);
    expect(begun).toEqual(['a0', 'b0', 'c0', 'b1']);
    await advance(1);
    expect(begun).toEqual(['a0', 'b0', 'c0', 'b1', 'a1']);
  }));

test('a pause is extended by the next task of the tenant that ends', () =>
  withStoppedClock(async (advance) => {
    const { begun, start, endWithoutTimers } = startTasks({
      permits: 3,
      permitsPerTenant: 2,
      lightLoad: new LightLoad(),
    });
    for (const name of ['a0', 'a1', 'a2', 'b0']) void start(name);
    await advance(10);
    await endWithoutTimers('a0');
    await advance(5);
    await endWithoutTimers('a1');
    await advance(14);
    expect(begun).toEqual(['a0', 'a1', 'b0']);
    await advance(1);
    expect(begun).toEqual(['a0', 'a1', 'b0', 'a2']);
  }));

// The attack: an organization sends its requests in bursts, so that each burst begins with less than its share.
test('tenants whose queues were empty pause for one that had a task within a second', () =>
  withStoppedClock(async (advance) => {
    const { begun, start, endWithoutTimers } = startTasks({ permits: 3, lightLoad: new LightLoad() });
    void start('a0');
    await endWithoutTimers('a0');
    await advance(990);
    for (const name of ['b0', 'c0', 'b1', 'b2', 'c1', 'c2']) void start(name);
    await advance(10);
    await endWithoutTimers('b0');
    await endWithoutTimers('c0');
    expect(begun).toEqual(['a0', 'b0', 'c0']);
    await advance(10);
    expect(begun).toEqual(['a0', 'b0', 'c0', 'b1', 'c1']);
    await endWithoutTimers('b1');
    expect(begun).toEqual(['a0', 'b0', 'c0', 'b1', 'c1', 'b2']);
  }));

test('no tenant pauses for itself', async () => {
  const { begun, start, endWithoutTimers } = startTasks({
    permits: 3,
    permitsPerTenant: 2,
    permitsAlone: 2,
    lightLoad: new LightLoad(),
  });
  void start('b0');
  await endWithoutTimers('b0');
  for (const name of ['a0', 'a1', 'a2', 'b1', 'b2']) void start(name);
  await endWithoutTimers('b1');
  expect(begun).toEqual(['b0', 'a0', 'a1', 'b1', 'b2']);
});

test('a tenant does not pause once its tasks have waited for half of their time', () =>
  withStoppedClock(async (advance) => {
    const { begun, start, endWithoutTimers } = startTasks({ maxWaitMs: 4000, lightLoad: new LightLoad() });
    for (const name of ['a0', 'a1']) void start(name);
    await advance(2001);
    void start('b0');
    await endWithoutTimers('a0');
    expect(begun).toEqual(['a0', 'b0', 'a1']);
  }));

test('a tenant does not pause if its newest task would wait for too long', () =>
  withStoppedClock(async (advance) => {
    const { begun, start, endWithoutTimers } = startTasks({ maxWaitMs: 20_000, lightLoad: new LightLoad() });
    for (let i = 0; i < 1000; i += 1) void start(`a${i}`);
    await advance(100);
    void start('b0');
    await endWithoutTimers('a0');
    expect(begun).toEqual(['a0', 'b0', 'a1']);
  }));

// The attack: made-up sessions and links keep the processors busy, so that requests to the API have to wait.
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
