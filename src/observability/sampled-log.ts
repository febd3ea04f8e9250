const EVERY_MS = 10_000;

/** Logs events that can be so many that a line for each would fill the disk, or take more time than the event itself. */
export type SampledLog<Event> = {
  readonly log: (event: Event) => void;
  /** Logs at once what has been counted so far. Call it when no more events occur. */
  readonly stop: () => void;
};

type Sampling<Event> = {
  /** How many events in ten seconds get a line each. */
  readonly oneByOne: number;
  readonly logOne: (event: Event) => void;
  /** What the further events are counted by. */
  readonly kindOf: (event: Event) => string;
  /** Logs the number of further events of each kind. */
  readonly logFurther: (counts: Readonly<Record<string, number>>) => void;
  /** Ten seconds by default. */
  readonly everyMs?: number | undefined;
};

/** The first events in ten seconds have a line each. The others are counted, and have one line when the ten seconds are over. */
export function sampleLog<Event>({
  oneByOne,
  logOne,
  kindOf,
  logFurther,
  everyMs = EVERY_MS,
}: Sampling<Event>): SampledLog<Event> {
  let logged = 0;
  let further: Record<string, number> = {};
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    if (Object.keys(further).length > 0) logFurther(further);
    logged = 0;
    further = {};
    timer = undefined;
  };
  const log = (event: Event) => {
    if (timer === undefined) timer = setTimeout(report, everyMs).unref();
    if (logged < oneByOne) {
      logged += 1;
      logOne(event);
    } else {
      const kind = kindOf(event);
      further[kind] = (further[kind] ?? 0) + 1;
    }
  };
  const stop = () => {
    clearTimeout(timer);
    report();
  };
  return { log, stop };
}
