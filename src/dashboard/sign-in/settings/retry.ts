import type { RulesContent } from '../../../service/single-sign-on/rules.ts';
import type { ConnectionContent } from '../../../service/single-sign-on/settings.ts';
import type { Problem } from '../../http/problem.ts';

/** What a refused form sent, or what a trial found. */
export type Retry = {
  readonly problem?: Problem;
  /** What a trial of the connection found. */
  readonly notice?: string;
  readonly connection?: Omit<ConnectionContent, 'clientSecret'>;
  readonly domain?: string;
  readonly roles?: RulesContent;
  readonly breakGlass?: string;
};
