// What the trials of `npm run new-resource` share.
import { type Checkout, makeCheckout } from '../../../scripts/drift/checkout.ts';
import { run } from '../../../scripts/drift/running.ts';
import { HELP } from '../../../scripts/new-resource/resource.ts';

/** The example of the help: every kind of field, all operations and events. */
export const FULL = argumentsIn(HELP.slice(HELP.indexOf('Example:')));

/** The arguments after "--", as the shell reads them. */
export function argumentsIn(command: string): string[] {
  const [, written = ''] = command.split(' -- ');
  return [...written.replaceAll('\\\n', '').matchAll(/'([^']*)'|\S+/g)].map(([whole, quoted]) => quoted ?? whole);
}

export async function add(folder: string, ...parameters: string[]): Promise<string> {
  const { code, printed } = await run(folder, ['scripts/new-resource/main.ts', ...parameters]);
  if (code !== 0) throw new Error(printed);
  return printed;
}

export async function withCheckout(use: (checkout: Checkout) => Promise<void>): Promise<void> {
  const checkout = await makeCheckout();
  try {
    await use(checkout);
  } finally {
    await checkout.remove();
  }
}
