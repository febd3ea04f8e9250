// Tests the check of histories that two-processes.soak.ts uses.
import { judgeRegister } from '../support/traffic/linearizability.ts';

const write = (value: string, sent: number, received: number) => ({ kind: 'write', value, sent, received }) as const;
const NEVER = Number.POSITIVE_INFINITY;
const read = (value: string, sent: number, received: number) => ({ kind: 'read', value, sent, received }) as const;

describe('the history of a small register', () => {
  test.each([
    ['one after another', [write('a', 0, 1), read('a', 2, 3), write('b', 4, 5), read('b', 6, 7)]],
    ['a read during a write sees either', [write('a', 0, 1), write('b', 2, 9), read('a', 3, 4), read('b', 5, 6)]],
    [
      'a write without a known outcome that nobody sees',
      [write('a', 0, 1), write('b', 2, NEVER), read('a', 3, 4), read('a', 5, 6)],
    ],
    [
      'a write without a known outcome that takes effect later',
      [write('a', 0, 1), write('b', 2, NEVER), read('a', 3, 4), read('b', 5, 6), read('b', 7, 8)],
    ],
    ['writes at once, in one order', [write('a', 0, 9), write('b', 0, 9), read('b', 10, 11), read('b', 12, 13)]],
  ])('%s: linearizable', (_, accesses) => {
    expect(judgeRegister(accesses)).toEqual([]);
  });

  test.each([
    ['an old value after the response to a new one', [write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)]],
    [
      'an old value after somebody saw the new one',
      [write('a', 0, 1), write('b', 2, 9), read('b', 3, 4), read('a', 5, 6)],
    ],
    [
      'an old value after a write without a known outcome was seen',
      [write('a', 0, 1), write('b', 2, NEVER), read('b', 3, 4), read('a', 5, 6)],
    ],
    ['a value before it was written', [write('a', 0, 1), read('b', 2, 3), write('b', 4, 5)]],
    ['a value that nobody wrote', [write('a', 0, 1), read('x', 2, 3)]],
    ['to and fro', [write('a', 0, 9), write('b', 0, 9), read('a', 10, 11), read('b', 12, 13), read('a', 14, 15)]],
  ])('%s: not linearizable', (_, accesses) => {
    expect(judgeRegister(accesses)).not.toEqual([]);
  });
});
