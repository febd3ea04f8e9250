import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

// The documentation looks like the dashboard: it takes colours, fonts, basic rules and the icon from the dashboard's assets.

/** The dashboard's CSS custom properties: colours, fonts and spaces. `dark` holds only those that differ. */
export type Tokens = { readonly light: string; readonly dark: string };

const LIGHT = /^:root \{\n([^}]*)\}/m;
const DARK = /^@media \(prefers-color-scheme: dark\) \{\n {2}:root \{\n([^}]*)\}/m;

export async function readTokens(root: string): Promise<Tokens> {
  const css = await readDashboardCss(root);
  const [light, dark] = [LIGHT, DARK].map((pattern) => pattern.exec(css)?.[1]?.replace(/^ *color-scheme.*\n/m, ''));
  if (light === undefined || dark === undefined)
    throw new Error('The custom properties of dashboard.css were not found.');
  return { light, dark };
}

/** The custom properties, and the rules for links, focus and the logo. */
export async function readSharedStyle(root: string): Promise<string> {
  const [shared = '', ...rest] = (await readDashboardCss(root)).split('/* For the dashboard only.');
  if (rest.length !== 1) throw new Error('The end of the shared rules of dashboard.css was not found.');
  return shared;
}

async function readDashboardCss(root: string): Promise<string> {
  return readFile(join(root, 'src/dashboard/assets/dashboard.css'), 'utf8');
}

export async function readIcon(root: string): Promise<string> {
  const icon = await readFile(join(root, 'src/dashboard/assets/icon.svg'));
  return `data:image/svg+xml;base64,${icon.toString('base64')}`;
}
