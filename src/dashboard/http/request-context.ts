import type { Actor, Trace } from '../../domain/actor.ts';
import type { Environment } from '../../domain/api-key.ts';
import type { Outbox } from '../../service/mail.ts';
import type { Database } from '../../store/database.ts';
import type { AssetUrls } from '../assets.ts';

export type DashboardDeps = {
  readonly db: Database;
  readonly environment: Environment;
  /** Where people reach us, such as https://charter.example.org; undefined: at the address that they call. */
  readonly publicUrl?: string | undefined;
  readonly outbox: Outbox;
  readonly now: () => Date;
  /** Told of every bug and outage, with the request's id. */
  readonly onFault: (error: unknown, requestId: string) => void;
};

export type Dashboard = DashboardDeps & {
  readonly assets: AssetUrls;
  /** Whether people come over HTTPS, so that cookies must too. */
  readonly isSecure: boolean;
};

/** One request, as the pages see it. */
export type RequestContext = {
  readonly dashboard: Dashboard;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Our own address, without a slash at its end. */
  readonly origin: string;
  readonly trace: Trace;
  readonly now: Date;
  /** The session's token, of whatever is in the cookie; null: none. */
  readonly token: string | null;
  /** What the forms of the next page must carry. */
  readonly formToken: string;
};

export type SignedInContext = RequestContext & { readonly actor: Actor; readonly token: string };
