import { join } from 'node:path';
import type { Cell } from '../../../src/domain/organizations/cells.ts';
import { useFolder } from '../folder.ts';

export const COMMON_HOST = 'charter.test';
export const COMMON_URL = `http://${COMMON_HOST}`;

export const cellOf = (name: string, title: string, url: string): Cell => ({ name, title, url, metricsUrl: null });

/** Returns a path for a map of domains that does not exist yet, in a folder that is removed after the tests of the file. */
export const useDomainsFile = async () => join(await useFolder(), 'domains.map');
