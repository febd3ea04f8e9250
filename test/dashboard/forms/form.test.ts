import { boxes, optional, secret, text, withParser } from '../../../src/dashboard/forms/fields.ts';
import { emptyOf, type Form, fieldsOf, problemSummary, typedOf } from '../../../src/dashboard/forms/form.ts';

const FORM = {
  fullName: text({ label: 'Name', hint: ({ most }: { most: number }) => `At most ${most} letters.` }),
  days: withParser(text({ label: 'Days' }), Number),
  rights: boxes({ label: 'Rights', options: [{ value: 'read', words: 'Read', hint: 'Reads.' }] }),
  owner: optional(text({ label: 'Owner' })),
  code: secret(text({ label: 'Code' })),
};
const TYPED = { fullName: 'Mei & Co', days: 'nine', rights: ['read'], owner: '' };
const fields = { full_name: ['must be shorter.'], rights: ['must be chosen.'] };
const problem = { status: 422, message: '', fields, retryAfterSeconds: null };

test('a form that forgets a field, or what a field depends on, does not compile', () => {
  const { owner, ...forgetful } = TYPED;
  // @ts-expect-error: the owner is missing
  expect(fieldsOf(FORM, { typed: forgetful, problem: null }, { most: 9 }).owner.toString()).not.toContain(owner || '!');
  // @ts-expect-error: the maximum length is missing
  expect(() => fieldsOf(FORM, { typed: TYPED, problem: null })).toThrow(TypeError);
  const values: Form<typeof FORM>['values'] = { fullName: '', days: 9, rights: [], owner: undefined, code: '' };
  // @ts-expect-error: the days are a number
  expect([values.days satisfies string]).toEqual([9]);
});

test('a refused form shows what was typed except secrets, and connects each message with its field', () => {
  const shown = fieldsOf(FORM, { typed: TYPED, problem }, { most: 9 });
  expect(shown.fullName.toString()).toContain(
    'id="full_name" name="full_name" aria-describedby="full_name-hint full_name-error" aria-invalid="true" type="text" value="Mei &amp; Co"',
  );
  expect(shown.fullName.toString()).toContain('<p class="field-error" id="full_name-error">Name must be shorter.</p>');
  expect(shown.rights.toString()).toContain('value="read" checked');
  expect(shown.days.toString()).toContain('value="nine"');
  expect(shown.code.toString()).toContain('value=""');
  const links = [...String(problemSummary(problem, FORM)).matchAll(/<a href="(.*?)">(.*?)<\/a>/g)];
  expect(links.map(([, href, words]) => [href, words])).toEqual([
    ['#full_name', 'Name must be shorter.'],
    ['#rights', 'Rights must be chosen.'],
  ]);
});

test('a form is filled in by the parameters of a URL, but for its secrets', () => {
  const sent = new URLSearchParams('full_name=Mei&rights=a&rights=b&code=123&other=x');
  expect(typedOf(FORM, sent)).toEqual({ fullName: 'Mei', days: '', rights: ['a', 'b'], owner: '' });
  expect(emptyOf(FORM)).toEqual({ fullName: '', days: '', rights: [], owner: '' });
});
