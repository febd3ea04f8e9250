import { join } from 'node:path';
import type { Cell } from '../../../src/domain/organizations/cells.ts';
import { useFolder } from '../folder.ts';

export const COMMON_HOST = 'charter.test';
export const COMMON_URL = `http://${COMMON_HOST}`;

export const cellOf = (name: string, title: string, url: string): Cell => ({ name, title, url, metricsUrl: null });

/** Returns the path at which a map of domains can be written. The folder is removed after the tests of the file. */
export const useDomainsFile = async () => join(await useFolder(), 'domains.map');
