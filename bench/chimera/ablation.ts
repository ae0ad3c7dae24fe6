import { differenceOf, distinct, type SeedPair, timesLess } from "../lib/bySeed";
import { ratio, signed, table } from "../lib/tables";
import { NO_WORSE_POINTS } from "./cases";
import { type Verdict, verdicts } from "./domination";
import type { FrontierRow } from "./frontier";

/** The routes with each of the two signals, all with the order by learnt lengths. */
const ARMS = [
  ["both: Chimera", ["Chimera"]],
  ["load rule only", ["load rule only"]],
  ["confidence only", ["confidence only"]],
  ["neither", ["neither"]],
  ["both, with prices", ["Chimera, priced"]],
] as const;

const loadOf = ({ at }: Verdict): string => at.split(" | ")[1] ?? "";

/** Each arm against vLLM's balancing over the ladders, by load, each seed at the point that the others prefer. */
export function ablationTable(rows: readonly FrontierRow[]): string {
  const loads = distinct(rows.map(({ load }) => String(load)));
  const lines = ARMS.map(([arm, names]) => {
    const found = verdicts(rows, names);
    const cells = loads.map((load) => {
      const own = found.filter((one) => loadOf(one) === load);
      return `${ratio(timesLess(own.map(({ latency }) => latency)))}; ${signed(differenceOf(own.map(({ quality }) => quality)))}`;
    });
    return [arm, ...cells];
  });
  return table(["route", ...loads.map((load) => `load ${load}: times; points`)], lines);
}

/** What confidence changes in a case, with the load rule kept. */
type Effect = "confidence adds" | "confidence costs" | "better but slower" | "faster but worse" | "the load rule does it alone";

/**
 * The effect of confidence beside the load rule: it adds if it is surely better and not slower by more than 2 %, or surely faster and no
 * worse; it costs where that holds the other way round. Surely better and surely slower is a trade, which a slack makes too.
 */
export function effectOf(latency: SeedPair, quality: SeedPair): Effect {
  const [times, points] = [timesLess([latency]), differenceOf([quality])];
  if (times?.low == null || times.high == null || points?.low == null || points.high == null) return "the load rule does it alone";
  if ((points.low > 0 && times.value > 0.98) || (times.low > 1 && points.low > -NO_WORSE_POINTS)) return "confidence adds";
  if ((points.high < 0 && times.value < 1 / 0.98) || (times.high < 1 && points.high < NO_WORSE_POINTS)) return "confidence costs";
  if (points.low > 0 && times.high < 1) return "better but slower";
  if (points.high < 0 && times.low > 1) return "faster but worse";
  return "the load rule does it alone";
}

/** In how many cases confidence has each effect, in a sentence. */
export function effectSentence(rows: readonly FrontierRow[]): string {
  const found = comparedWithLoadRule(rows).map(({ latency, quality }) => effectOf(latency, quality));
  const counts = distinct(found).map((effect) => `${effect} in ${found.filter((one) => one === effect).length}`);
  return `Of ${found.length} cases: ${counts.join(", ")}.`;
}

/** Chimera and the load rule alone in each case, each at its own preferred points. */
function comparedWithLoadRule(rows: readonly FrontierRow[]) {
  const alone = verdicts(rows, ["load rule only"]);
  return verdicts(rows, ["Chimera"]).flatMap((both) => {
    const load = alone.find(({ at }) => at === both.at);
    if (load === undefined) return [];
    const latency: SeedPair = { own: both.latency.own, reference: load.latency.own };
    const quality: SeedPair = { own: both.quality.own, reference: load.quality.own };
    return [{ at: both.at, load, latency, quality }];
  });
}

/** Case by case: Chimera against the load rule alone, each at its own preferred points. */
export function effectTable(rows: readonly FrontierRow[]): string {
  const sure = verdicts(rows, ["confidence only"]);
  const against = ({ latency, quality }: Verdict): string => `${ratio(timesLess([latency]))}; ${signed(differenceOf([quality]))}`;
  const lines = comparedWithLoadRule(rows).map(({ at, load, latency, quality }) => {
    const confidence = sure.find((one) => one.at === at);
    return [
      at.replace(" | ", ", load "),
      against(load),
      confidence === undefined ? "-" : against(confidence),
      `${ratio(timesLess([latency]))}; ${signed(differenceOf([quality]))}`,
      effectOf(latency, quality),
    ];
  });
  return table(["ladder", "load rule only, over vLLM", "confidence only, over vLLM", "both, over the load rule only", "so"], lines);
}
