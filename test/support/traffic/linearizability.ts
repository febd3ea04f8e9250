// Checks a recorded history. All times come from one clock, that of the process that sends the requests.

/** The time from just before a request was sent until its response had arrived. */
export type Span = { readonly sent: number; readonly received: number };
/** A write or a read of a register. Every write of a register has another value. */
export type Access = Span & { readonly kind: 'write' | 'read'; readonly value: string };
export type KeyUse = Span & { readonly key: string; readonly status: number };

/**
 * Returns the reasons why the accesses to a register are not linearizable; empty if they are linearizable. Accesses are
 * linearizable if each can take effect at one moment between its request and its response, so that every read returns the last
 * value written before. As values are unique, three rules about the zones of the values decide this (Gibbons and Korach, "Testing
 * Shared Memories", 1997).
 */
export function judgeRegister(accesses: readonly Access[]): string[] {
  const zones = [...Map.groupBy(accesses, ({ value }) => value)].map(([value, cluster]) => zoneOf(value, cluster));
  const forward = zones.filter((zone) => zone.isForward).sort((a, b) => a.from - b.from);
  return [
    ...zones.flatMap(({ fault }) => fault ?? []),
    ...forward.flatMap((zone, i) => {
      const before = forward[i - 1];
      return before !== undefined && before.to > zone.from
        ? [`${before.value} and ${zone.value} held at one moment`]
        : [];
    }),
    ...zones
      .filter((zone) => !zone.isForward)
      .flatMap((zone) => {
        const around = forward.find((each) => each.from < zone.from && zone.to < each.to);
        return around === undefined ? [] : [`${zone.value} was there while ${around.value} was`];
      }),
  ];
}

function zoneOf(value: string, cluster: readonly Access[]) {
  const firstResponse = Math.min(...cluster.map(({ received }) => received));
  const lastSending = Math.max(...cluster.map(({ sent }) => sent));
  const write = cluster.find(({ kind }) => kind === 'write');
  const early = cluster.some(({ kind, received }) => kind === 'read' && write !== undefined && received < write.sent);
  return {
    value,
    isForward: firstResponse < lastSending,
    from: Math.min(firstResponse, lastSending),
    to: Math.max(firstResponse, lastSending),
    fault:
      write === undefined ? `${value} was read, and never written` : early ? `${value} was read before` : undefined,
  };
}

/**
 * Returns the uses of keys that were accepted although they were sent after the end of the key was acknowledged, and those that
 * were refused before anybody began to end the key.
 */
export function judgeKeys(uses: readonly KeyUse[], ends: ReadonlyMap<string, Span>): string[] {
  return uses.flatMap(({ key, sent, received, status }) => {
    const end = ends.get(key);
    const isAccepted = status !== 401 && status < 500;
    if (isAccepted && end !== undefined && sent > end.received) return [`${key} was accepted after its end`];
    if (status === 401 && (end === undefined || received < end.sent)) return [`${key} was refused before its end`];
    return [];
  });
}
