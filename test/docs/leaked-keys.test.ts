import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mintKey } from '../../src/domain/keys/api-key.ts';

const guide = readFileSync(join(import.meta.dirname, '../../openapi/guides/leaked-keys.md'), 'utf8');
const [, program = ''] = /```text\n(import [\s\S]*?)```/.exec(guide) ?? [];
const [pattern = ''] = /^charter_\(live.*$/m.exec(guide) ?? [];
const { isKey } = await import(`data:text/javascript,${encodeURIComponent(program)}`);

test('the regular expression and the checksum of the guide accept every key that Charter issues, and nothing near it', () => {
  for (let i = 0; i < 1000; i += 1) {
    const { key } = mintKey(i % 2 === 0 ? 'live' : 'test', i % 3 === 0 ? `eu${i}` : null);
    expect(`KEY=${key}\n`.match(new RegExp(pattern, 'g'))).toEqual([key]);
    expect([key.slice(0, 17), isKey(key)]).toEqual([key.slice(0, 17), true]);
    const last = key.endsWith('0') ? '1' : '0';
    for (const wrong of [`${key.slice(0, -1)}${last}`, key.slice(0, -1), `${key}0`, key.slice(1)])
      expect(isKey(wrong)).toBe(false);
  }
});

test('the keys that the guide shows are well-formed', () => {
  const shown = guide.match(/charter_(live|test)_[0-9A-Za-z]{46}/g) ?? [];
  expect(shown).toHaveLength(2);
  for (const key of shown) expect(isKey(key)).toBe(true);
});
