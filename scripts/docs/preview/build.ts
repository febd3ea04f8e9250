import { join } from 'node:path';
import { bundleContract } from '../../bundle.ts';
import { whenChanged } from '../../watch.ts';
import { type Contract, contractOf } from '../contract.ts';
import { readGuides } from '../guides.ts';
import { renderPlain } from '../plain/page.ts';
import { documentOf } from '../redoc/document.ts';
import { renderRedoc, withDocument } from '../redoc/page.ts';
import { readIcon } from '../style.ts';

/** What the preview shows, rendered when a page asks for it. */
export type Preview = {
  readonly contract: Contract;
  /** The document that an open page of Redoc renders anew, as JSON. */
  readonly document: string;
  index(): string;
  plain(): Promise<string>;
};

/**
 * Returns a function that reads what the preview shows. It does only what a change needs: Redocly bundles the contract only
 * if one of its files changed, and builds its page only once, because only the page's document changes.
 */
export function createBuilder(root: string): () => Promise<Preview> {
  let page: Promise<string> | undefined;
  const bundled = whenChanged(join(root, 'openapi'), isOfContract, async () =>
    contractOf(await bundleContract(join(root, 'openapi/openapi.yaml'))),
  );
  return async () => {
    const [contract, guides, icon] = await Promise.all([bundled(), readGuides(root), readIcon(root)]);
    // It also finds the links that lead nowhere, which are then reported at once.
    const document = JSON.stringify(documentOf(contract, guides, icon));
    page ??= renderRedoc(root, contract, guides);
    page.catch(() => {
      page = undefined;
    });
    const built = await page;
    return {
      contract,
      document,
      index: () => withDocument(built, document),
      plain: () => renderPlain(root, contract, guides),
    };
  };
}

function isOfContract(file: string): boolean {
  return /\/openapi\/(openapi\.yaml$|paths\/|webhooks\/|components\/)/.test(file);
}
