import type { HolderKind } from '../../domain/keys/api-key.ts';
import type { Html } from '../../html/html.ts';
import { noSuchIntegration } from '../../service/authority/integrations.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import { noSuchUser } from '../../service/authority/people.ts';
import type { KeyUrls } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { SignedInPage } from '../routing/page-routes.ts';
import { backUrlOf, readBack } from './search.ts';

/** A request about the keys of one holder: the person, another user or an integration. */
export type KeyContext = SignedInContext &
  KeyUrls & {
    readonly holderId: string;
    readonly isOwn: boolean;
    readonly holderKind: HolderKind;
    /** The list that the pages of a key lead back to: that of its holder's keys, or the organization's with its filters. */
    readonly backUrl: string;
    /** The heading above the list. */
    readonly head: (holder: KeyAccess['holder']) => Html;
  };

/** A part of the dashboard that has pages for keys. */
export type KeyPlace = {
  /** The path of the list, as Express reads it. */
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

/** The id in the path. */
export function keyIdOf({ params }: KeyContext): string {
  return params['keyId'] ?? '';
}

/** Throws "not_found" for an integration in the place of users, and for a user in the place of integrations. */
export function requireHolderKind({ holderKind }: KeyContext, holder: KeyAccess['holder']): void {
  if (holder.kind !== holderKind) throw holderKind === 'integration' ? noSuchIntegration() : noSuchUser();
}

/** A link from an error page back to the list. */
export function toList({ backUrl }: KeyContext): { name: string; href: string } {
  return { name: 'See the API keys', href: backUrl };
}

/** The link to the list above the heading of a page; `ofUser`: what the list of the user's keys is called. */
export function upToList({ back, backUrl }: KeyContext, ofUser = 'API keys'): { name: string; href: string } {
  return { name: back === null ? ofUser : 'API keys of the organization', href: backUrl };
}
