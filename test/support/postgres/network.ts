import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from '../servers/port.ts';

type Network = {
  /** The database URL that leads through this network. */
  readonly url: string;
  /** From now on, nothing arrives: neither data nor the end of a connection. */
  cut(): void;
  /** Delivers what was sent meanwhile, in order, as TCP does. */
  resume(): void;
  /** Loses what was sent meanwhile, and resets the connections, as a firewall does that was restarted. */
  reset(): void;
  close(): Promise<void>;
};

/** The network between a server and its database. */
export async function networkTo(databaseUrl: string): Promise<Network> {
  const target = new URL(databaseUrl);
  const network = new Forwarding({ host: target.hostname, port: Number(target.port) });
  const server = createServer({ allowHalfOpen: false }, (inward) => network.accept(inward));
  const port = String(await listenLocally(server));
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port });
  return {
    url: url.href,
    cut: () => network.cut(),
    resume: () => network.resume(),
    reset: () => network.reset(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        network.reset();
      }),
  };
}

class Forwarding {
  readonly #target: { host: string; port: number };
  readonly #open = new Set<Socket>();
  /** The deliveries that wait for the end of the cut, in order; `null` if the network is not cut. */
  #held: (() => void)[] | null = null;

  constructor(target: { host: string; port: number }) {
    this.#target = target;
  }

  accept(inward: Socket): void {
    this.#open.add(inward);
    inward.on('error', () => {});
    inward.on('close', () => this.#open.delete(inward));
    // During a cut, the connection waits to be joined, and nothing is read.
    this.#pass(() => this.#join(inward));
  }

  #join(inward: Socket): void {
    const outward = connect(this.#target);
    this.#open.add(outward);
    outward.on('error', () => {});
    outward.on('close', () => this.#open.delete(outward));
    for (const [from, to] of [
      [inward, outward],
      [outward, inward],
    ] as const) {
      from.on('data', (chunk) => this.#pass(() => void to.write(chunk)));
      from.on('close', () => this.#pass(() => to.destroySoon()));
    }
  }

  #pass(deliver: () => void): void {
    if (this.#held === null) deliver();
    else this.#held.push(deliver);
  }

  cut(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const deliver of held) deliver();
  }

  reset(): void {
    this.#held = null;
    for (const socket of this.#open) socket.resetAndDestroy();
  }
}
