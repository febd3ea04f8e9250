import type { HolderKind } from '../../domain/keys/api-key.ts';
import type { Html } from '../../html/html.ts';
import { noSuchIntegration } from '../../service/authority/integrations.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import { noSuchUser } from '../../service/authority/people.ts';
import type { KeyUrls } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import type { SignedInPage } from '../routing/page-routes.ts';
import { backUrlOf, readBack } from './search.ts';

/** A request about the keys of one holder: the signed-in person, another user or an integration. */
export type KeyContext = SignedInContext &
  KeyUrls & {
    readonly holderId: string;
    readonly isOwn: boolean;
    readonly holderKind: HolderKind;
    /**
     * The URL of the list to which the pages of a key link back: the list of the holder's keys, or the organization's list with
     * its filters.
     */
    readonly backUrl: string;
    /** Returns the heading above the list of keys. */
    readonly head: (holder: KeyAccess['holder']) => Html;
  };

/** A part of the dashboard that has pages for the keys of a kind of holder. */
export type KeyPlace = {
  /** The path of the list of keys, as an Express path. */
  readonly listPath: string;
  readonly holderKind: HolderKind;
  readonly mayEnter: SignedInPage['mayEnter'];
  locate(context: SignedInContext): Pick<KeyContext, 'holderId' | 'listUrl' | 'head'>;
};

export function keyContext(context: SignedInContext, place: KeyPlace): KeyContext {
  const location = place.locate(context);
  const { holderKind } = place;
  const isOwn = location.holderId === context.actor.userId;
  const back = readBack(context.query.get('back'));
  const backUrl = back === null ? location.listUrl : backUrlOf(back);
  return { ...context, ...location, holderKind, isOwn, back, backUrl };
}

export function keyIdOf({ params }: KeyContext): string {
  return params['keyId'] ?? '';
}

/** Throws "not_found" if the path is that of a user but the holder is an integration, or vice versa. */
export function requireHolderKind({ holderKind }: KeyContext, holder: KeyAccess['holder']): void {
  if (holder.kind !== holderKind) throw holderKind === 'integration' ? noSuchIntegration() : noSuchUser();
}

export function toList({ backUrl }: KeyContext): { name: string; href: string } {
  return { name: 'See the API keys', href: backUrl };
}

/**
 * Returns the link to the list, for the top of a page. `ofUser` is the link's text if it leads to the list of the holder's keys.
 */
export function upToList({ back, backUrl }: KeyContext, ofUser = 'API keys'): { name: string; href: string } {
  return { name: back === null ? ofUser : 'API keys of the organization', href: backUrl };
}

/** Wraps the function of a page that shows the uses of keys. First writes the uses that this process has not written yet. */
export function withFreshUses<Context extends SignedInContext>(get: (context: Context) => Promise<View>) {
  return async (context: Context): Promise<View> => {
    await context.dashboard.keyUses.freshen();
    return get(context);
  };
}
