import type { Document } from '../../src/contract/contract.ts';

/** What the mock serves and does not make itself. */
export type Assets = {
  readonly document: Document;
  /** The document as YAML. */
  readonly yaml: () => Promise<string>;
  /** The style of the control page. */
  readonly style: string;
  /** Its icon, as a data URL. */
  readonly icon: string;
};
