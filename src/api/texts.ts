import type { ErrorObject } from 'ajv';
import { isText } from '../domain/text.ts';

const REMEDY = 'Remove NUL characters and unpaired surrogates.';

/**
 * The strings and names within a value that are not texts, as Ajv's errors. A pattern of the contract cannot exclude them: most
 * languages cannot compile a class with surrogates.
 */
export function invalidTextsIn(whole: object): ErrorObject[] {
  const found: ErrorObject[] = [];
  // Without recursion: a body of 100 KiB can be nested deeper than the stack allows.
  const left: { readonly value: unknown; readonly path: string }[] = [{ value: whole, path: '' }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && !isText(value)) found.push(errorOf(value, { instancePath: path }));
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value).reverse()) {
      if (!isText(name)) found.push(errorOf(name, { instancePath: path, propertyName: name }));
      else if (member !== null) left.push({ value: member, path: `${path}/${escapePointer(name)}` });
    }
  }
  return found;
}

function errorOf(data: string, place: Pick<ErrorObject, 'instancePath' | 'propertyName'>): ErrorObject {
  const parentSchema = { 'x-remedy': REMEDY };
  return { keyword: 'format', schemaPath: '', params: { format: 'text' }, data, parentSchema, ...place };
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
