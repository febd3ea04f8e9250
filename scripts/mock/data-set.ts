import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, Operation } from '../../src/contract/document.ts';
import { type Collection, createCollections } from './collection.ts';
import { createResponseSource, type ResponseSource } from './response-source.ts';

/** Where the data of responses come from: the contract's examples or, with a seed, the schemas. */
export type DataSet = {
  readonly source: ResponseSource;
  readonly collections: readonly Collection[];
  readonly isDynamic: boolean;
};

export type DataSetOptions = {
  readonly operations: readonly Operation[];
  readonly ajv: Ajv2020;
  /** The contract's examples are used if it is omitted. */
  readonly seed: string | undefined;
};

export async function createDataSet(document: Json, { operations, ajv, seed }: DataSetOptions): Promise<DataSet> {
  const isDynamic = seed !== undefined;
  const source = await createResponseSource(document, { ajv, seed });
  return { source, isDynamic, collections: await createCollections(operations, { ajv, source, isDynamic }) };
}
