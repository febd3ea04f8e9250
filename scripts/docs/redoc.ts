// The contract as Redoc shows it.
import type { Json, Operation } from '../../src/contract/document.ts';
import { exampleUrlOf, introductionOf } from './contract.ts';
import type { Site } from './frame.ts';
import { samplesOf } from './samples/languages.ts';

/** The contract with samples for each operation, and without what the guides say. */
export function redocDocument({ source: { contract } }: Site): Json {
  const { document, operations, info } = contract;
  const { license: _, summary: _summary, ...shown } = Object(info);
  const samples = new Map(operations.map((operation) => [keyOf(operation), samplesOf(operation)]));
  const paths = Object.entries(Object(document['paths'])).map(([path, item]) => {
    const members = Object.entries(Object(item)).map(([method, operation]) => {
      return [method, { ...Object(operation), 'x-codeSamples': samples.get(keyOf({ path, method })) }];
    });
    return [path, Object.fromEntries(members)];
  });
  const result = {
    ...document,
    info: {
      ...shown,
      description: `${introductionOf(contract)} All operations follow the [conventions](conventions.html).`,
    },
    // With the variables filled in: Redoc would take a URL that is only a variable as relative to its page.
    servers: [document['servers']]
      .flat()
      .map((each) => ({ ...Object(each), url: exampleUrlOf(each), variables: undefined })),
    paths: Object.fromEntries(paths),
  };
  // Redoc reads only descriptions as Markdown; in a summary it would show the backticks.
  const adapted = (name: string, value: unknown) =>
    name === 'summary' && typeof value === 'string' ? value.replaceAll('`', '') : value;
  return JSON.parse(JSON.stringify(result), adapted);
}

function keyOf({ path, method }: Pick<Operation, 'path' | 'method'>): string {
  return `${method} ${path}`;
}
