import { Document, isScalar, visit } from 'yaml';

const FORMAT = { lineWidth: 118, flowCollectionPadding: false } as const;

/** A value as a file of YAML, with lists of scalars on one line. */
export function print(value: unknown): string {
  return printDocument(new Document(value, { aliasDuplicateObjects: false, schema: 'yaml-1.1' }));
}

export function printDocument(document: Document): string {
  visit(document, {
    Seq(_, list) {
      if (list.items.every(isScalar)) list.flow = true;
    },
  });
  // A header's value stays on one line.
  return document.toString(FORMAT).replace(/(>;)\n +(rel=)/g, '$1 $2');
}
