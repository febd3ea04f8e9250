import { exampleMessageOf } from '../../scripts/mock/declared-responses.ts';
import type { Operation } from '../../src/contract/document.ts';

/** Returns an operation on the path with the 404 examples that all resources share. */
function operationOn(path: string): Operation {
  const examples = {
    no_such_parent_program: { value: { message: 'There is no parent program with this id.' } },
    no_such_provider: { value: { message: 'There is no provider with this id.' } },
  };
  const content = { 'application/json': { schema: {}, examples } };
  const responses = { 404: { description: 'Nothing has this id.', content } };
  const texts = { operationId: 'any', summary: 'Any', description: 'Any.' };
  return { ...texts, path, method: 'get', tags: [], security: [], responses };
}

// The risk: the mock shows the first example of a shared response, which is about another resource.
test.each([
  ['/api/parent_programs/{id}', 'There is no parent program with this id.'],
  ['/api/providers/{id}', 'There is no provider with this id.'],
  ['/api/others/{id}', 'There is no parent program with this id.'],
])('the message of a 404 on %s is of the example about its resource, if there is one', (path, message) => {
  expect(exampleMessageOf(operationOn(path), 404)).toBe(message);
  expect(exampleMessageOf(operationOn(path), 412)).toBeUndefined();
});
