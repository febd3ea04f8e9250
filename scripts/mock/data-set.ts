import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Operation } from '../../src/contract/document.ts';
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

export function createDataSet({ operations, ajv, seed }: DataSetOptions): DataSet {
  const isDynamic = seed !== undefined;
  const source = createResponseSource({ ajv, seed });
  return { source, isDynamic, collections: createCollections(operations, { ajv, source, isDynamic }) };
}
