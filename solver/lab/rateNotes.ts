import type { LabCell } from "./labCell";
import type { LabSpec } from "./labSpec";
import { overSeeds, type SystemFigures } from "./overSeeds";
import { engineFill, moreComes, morePlaces, moreWaits, placeTwins } from "./raceLimits";
import { systemLabels } from "./systemVariants";

/** Engines are overloaded if they serve less than this share of arrivals, with more than half of a program's time spent waiting. */
const SERVED_SHARE = 0.9;
const WAITING_SHARE = 0.5;
/** Below this share of latency spent waiting, an order has almost nothing to choose between. */
const IDLE_SHARE = 0.05;

const secondsText = (seconds: number): string => (seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${Number(seconds.toPrecision(3))} s`);

type NotedSpec = Pick<LabSpec, "systems" | "rates" | "replicas" | "mix" | "programs">;

/**
 * Notes on the figures at one rate, in sentences: which systems have identical results, why, and what would separate them where that is
 * known, and under which the engines were overloaded, so that latencies grow with the number of programs. Overloaded systems are detected
 * by the served share and the waiting time: the time in which the last programs are served lowers throughput by itself.
 */
export function rateNotes(spec: NotedSpec, cells: readonly LabCell[], rate: number): readonly string[] {
  const { systems, rates } = spec;
  const own = cells.filter((cell) => cell.rate === rate);
  const figures = overSeeds(own);
  const labels = systemLabels(systems);
  const naming = (group: readonly SystemFigures[]): string => group.map(({ system }) => labels[system] ?? "").join("; ");
  const offered = rates[rate] ?? Number.NaN;
  const behind = figures.filter((each) => fallsBehind(each, offered));
  return [
    ...alike(own, figures).map((group) => `These did not differ, to the last digit: ${naming(group)}.${whyAlike(spec, group)}`),
    ...(behind.length === 0
      ? []
      : [
          `Engines are overloaded at ${offered} programs/s under ${behind.length === figures.length ? "any system" : naming(behind)}: programs wait longer than they are served, and latencies grow with the number of programs.`,
        ]),
  ];
}

/** Systems whose cells are equal under every seed, two or more of a kind. */
function alike(cells: readonly LabCell[], figures: readonly SystemFigures[]): readonly (readonly SystemFigures[])[] {
  const groups = new Map<string, SystemFigures[]>();
  for (const each of figures) {
    const digests = cells.filter(({ system }) => system === each.system).map(({ seed, digest }) => `${seed} ${digest}`);
    const key = digests.sort().join();
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/**
 * Why systems of a group have identical results and what would separate them, as sentences to follow another; empty where it is not known.
 */
function whyAlike(spec: NotedSpec, group: readonly SystemFigures[]): string {
  const systems = group.flatMap(({ system }) => spec.systems[system] ?? []);
  if (placeTwins(systems, spec.replicas)[0]?.length === systems.length) {
    return ` They choose among the engines of a model in other ways, and each model has one. ${morePlaces}`;
  }
  const waited = waitingOf(group[0]);
  if (waited === null || waited.share >= IDLE_SHARE) return "";
  const idle = ` Hardly anything waited there (${secondsText(waited.queueSeconds)} of ${secondsText(waited.latencySeconds)}), so an order has nothing to choose between`;
  const fill = engineFill(spec, systems[0]?.replicas ?? spec.replicas);
  return fill.fits ? `${idle}, and a higher rate makes no queue either: ${fill.says}. ${moreWaits}` : `${idle}. ${moreComes}`;
}

interface Waiting {
  readonly queueSeconds: number;
  readonly latencySeconds: number;
  readonly share: number;
}

function waitingOf(of: SystemFigures | undefined): Waiting | null {
  const [queue, latency] = [of?.figures.meanQueueSeconds, of?.figures.meanSeconds];
  return queue == null || latency == null || latency.value === 0
    ? null
    : { queueSeconds: queue.value, latencySeconds: latency.value, share: queue.value / latency.value };
}

function fallsBehind(of: SystemFigures, offered: number): boolean {
  const served = of.figures.programsPerSecond;
  return served !== null && served.value < SERVED_SHARE * offered && (waitingOf(of)?.share ?? 0) > WAITING_SHARE;
}
