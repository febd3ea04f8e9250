import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIcon, readSharedStyle } from '../docs/style.ts';
import { root } from '../tool.ts';
import type { Assets } from './assets.ts';

/** What the control page looks like: as the dashboard does. */
export async function readPageStyle(): Promise<Pick<Assets, 'style' | 'icon'>> {
  const [shared, own, icon] = await Promise.all([
    readSharedStyle(root),
    readFile(join(import.meta.dirname, 'control-page.css'), 'utf8'),
    readIcon(root),
  ]);
  return { style: shared + own, icon };
}
