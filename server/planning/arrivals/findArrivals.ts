import type { ArrivalsChoice, Outcome, Segment } from "@/server/contracts/studio";
import { daily, localTime, unknownZone } from "@/server/lib/localTime";
import { generatedArrivals } from "@/solver/workload/buildWorkload";
import { overlap, ratesByHour, type Stretch } from "@/solver/workload/segmentArrivals";
import type { Workload } from "@/solver/workload/workload";
import { importArrivals } from "../imports/importArrivals";
import type { CsvSource } from "../imports/readCsv";
import { type Found, type FoundArrivals, recorded, tooFew, type WatchedCluster } from "./foundArrivals";
import { counterArrivals, typedArrivals } from "./modelledArrivals";

/** The sources of arrivals. */
export interface ArrivalsGround {
  /** An uploaded file; null: it is no longer stored. */
  readonly openUpload: (uploadId: string) => CsvSource | null;
  readonly workloadOf: (workloadId: string) => Pick<Workload, "name" | "arrivalSeconds" | "origin"> | null;
  /** null: the studio is not connected to it. */
  readonly clusterOf: (clusterId: string) => WatchedCluster | null;
  readonly clusterName: (clusterId: string) => string;
  /** Unix milliseconds; absent: the present. */
  readonly now?: () => number;
}

/** Fixed, so that the same choice gives the same workload. */
const SEED = 1;

const refuse = (message: string): Found => ({ ok: false, message });

/** Finds the chosen arrivals, or states in a sentence why there are none and what to do. */
export async function findArrivals(choice: ArrivalsChoice, ground: ArrivalsGround): Promise<Found> {
  switch (choice.kind) {
    case "generated":
      return recorded(generatedArrivals(SEED), null);
    case "workload": {
      const workload = ground.workloadOf(choice.workloadId);
      if (workload === null) return refuse(`There is no workload ${choice.workloadId}: choose another.`);
      const { arrivalSeconds, origin } = workload;
      return recorded({ arrivalSeconds, origin: `those of ${workload.name}: ${origin.arrivals}` }, null);
    }
    case "upload": {
      const source = ground.openUpload(choice.uploadId);
      if (source === null) return refuse("The uploaded file is not kept any more: send it again.");
      const read = await importArrivals(source);
      return read.ok ? recorded(read, { beginsAtMs: read.firstAtMs, timeScale: 1, anyDay: false }) : read;
    }
    case "hours":
      return typedArrivals(choice, SEED);
    case "gateway":
    case "counters": {
      const { clusterId } = choice;
      const cluster = ground.clusterOf(clusterId);
      const name = ground.clusterName(clusterId);
      if (cluster === null) return refuse(`The studio is not connected to ${name}, so nothing is known of its traffic.`);
      if (choice.kind === "gateway") return gatewayArrivals(cluster, name);
      return counterArrivals({ cluster, name, ...choice, nowMs: (ground.now ?? Date.now)(), seed: SEED });
    }
  }
}

export type Zoned = Outcome<{
  readonly within: (hours: Pick<Segment, "fromHour" | "toHour">) => readonly Stretch[];
  readonly zoneName: string;
}>;

/** The stretches of known time within a part of each day. */
export function zoned({ clock, known }: FoundArrivals, timeZone: string): Zoned {
  if (clock === null) {
    return { ok: false, message: "These arrivals are at no hour of the day: take all of them, or others that have a clock." };
  }
  const local = localTime(clock.anyDay ? "UTC" : timeZone);
  if (local === null) return { ok: false, message: unknownZone(timeZone) };
  const { beginsAtMs, timeScale } = clock;
  const secondsAt = (atMs: number): number => ((atMs - beginsAtMs) / 1000) * timeScale;
  const span = { fromMs: beginsAtMs, toMs: beginsAtMs + ((known.at(-1)?.to ?? 0) / timeScale) * 1000 };
  return {
    ok: true,
    zoneName: clock.anyDay ? "of the day" : `in ${timeZone}`,
    within(hours) {
      const stretches = daily(hours, span, local).map(({ fromMs, toMs }) => ({ from: secondsAt(fromMs), to: secondsAt(toMs) }));
      return overlap(clock.anyDay ? fromTheirStart(stretches, hours.fromHour) : stretches, known);
    },
  };
}

/** Mean rate of arrivals in each hour of the day, null in an hour without data. */
export const hourly = ({ arrivalSeconds }: FoundArrivals, within: Extract<Zoned, { ok: true }>["within"]): readonly (number | null)[] =>
  ratesByHour(
    arrivalSeconds,
    Array.from({ length: 24 }, (_, hour) => within({ fromHour: hour, toHour: hour + 1 })),
  );

/** For arrivals without a date, a night that begins in the evening continues in the morning of the same day. */
function fromTheirStart(stretches: readonly Stretch[], fromHour: number): readonly Stretch[] {
  const begins = stretches.findIndex(({ from }) => from >= fromHour * 3600);
  return begins <= 0 ? stretches : [...stretches.slice(begins), ...stretches.slice(0, begins)];
}

/**
 * Arrival times of the requests in a gateway's recent records: the time of the answer less the duration. Shed and failed requests count
 * too.
 */
function gatewayArrivals(cluster: Pick<WatchedCluster, "collector" | "timeScale">, clusterName: string): Found {
  const timeScale = cluster.timeScale();
  const decisions = cluster.collector()?.decisions(Number.MAX_SAFE_INTEGER) ?? [];
  const atMs = Float64Array.from(
    decisions,
    ({ finishedAtMs, endToEndSeconds }) => finishedAtMs - (1000 * endToEndSeconds) / timeScale,
  ).sort();
  const problem = tooFew(atMs, `in the records of the gateway of ${clusterName}`);
  if (problem !== null) return { ok: false, message: `${problem} Send it traffic, or take other arrivals.` };
  const beginsAtMs = atMs[0] ?? 0;
  const spanMs = (atMs.at(-1) ?? 0) - beginsAtMs;
  const unanswered = decisions.filter(({ status }) => status >= 400).length;
  const origin = [
    `records of the gateway of ${clusterName}: ${decisions.length} requests in ${Math.round(spanMs / 1000)} s`,
    ` until ${new Date(beginsAtMs + spanMs).toISOString().slice(0, 19)}Z, all that are kept`,
    unanswered === 0 ? "" : `, ${unanswered} of them shed or failed`,
    timeScale === 1 ? "" : `; emulated, ${timeScale} seconds in one of the wall`,
  ].join("");
  const arrivalSeconds = atMs.map((at) => ((at - beginsAtMs) / 1000) * timeScale);
  return recorded({ arrivalSeconds, origin }, { beginsAtMs, timeScale, anyDay: false });
}
