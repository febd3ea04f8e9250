import { readFile } from 'node:fs/promises';
import { readArguments } from '../scripts/command-line.ts';

const OPTIONS = { check: { type: 'boolean' } } as const;

test('an unknown option of a command is refused in a sentence, with its help', () => {
  expect(readArguments(OPTIONS, 'help', ['--check'])).toEqual({ check: true });
  expect(() => readArguments(OPTIONS, 'npm run generate', ['--chek'])).toThrow(
    /^Unknown option '--chek'.*\n\nnpm run generate$/s,
  );
});

test('every command of package.json gets the signals that npm passes on', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  // npm sends a signal only to its shell. Unless `exec` replaces the shell with the command, the shell ends and the command keeps
  // running.
  expect(Object.values<string>(scripts).filter((script) => !script.startsWith('exec node '))).toEqual([]);
});
