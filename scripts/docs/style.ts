import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

// The documentation looks like the dashboard: it uses the colours, fonts, basic rules and icon of the dashboard.

const DARK = /^@media \(prefers-color-scheme: dark\) \{\n {2}:root \{\n([^}]*)\}/m;

export function readSharedStyle(root: string): Promise<string> {
  return readFile(join(root, 'src/dashboard/assets/styles/shared.css'), 'utf8');
}

/**
 * Returns the shared style with the company's colours. Adds a class of the root element for each theme that readers can choose.
 */
export async function readThemes(root: string, branding: ReadonlyMap<string, string>): Promise<string> {
  const shared = await readSharedStyle(root);
  const dark = DARK.exec(shared)?.[1];
  if (dark === undefined) throw new Error('The dark theme of shared.css was not found.');
  const accent = (name: string) => (branding.has(name) ? `--accent: ${branding.get(name)};` : '');
  return `${shared.replace(DARK, (theme) => theme.replace(':root', ':root:not(.light)'))}
:root { ${accent('accent')} }
:root.light { color-scheme: light; }
:root.dark { color-scheme: dark; ${dark} ${accent('accent-dark')} }
@media (prefers-color-scheme: dark) { :root:not(.light) { ${accent('accent-dark')} } }
`;
}

export async function readIcon(root: string): Promise<string> {
  const icon = await readFile(join(root, 'src/dashboard/assets/icon.svg'));
  return `data:image/svg+xml;base64,${icon.toString('base64')}`;
}
