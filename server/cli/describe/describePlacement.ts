import { optimalityText } from "@/solver/ensemble/placement/optimality";
import type { ExpertsPlaced } from "@/solver/ensemble/placement/placeExperts";
import type { PlacedExpert } from "@/solver/ensemble/placement/placement";
import type { TimedSession } from "@/solver/ensemble/placement/timeSchedule";
import { counted } from "@/solver/wording/wording";
import { textTable } from "./textTable";

/** Width of a worker's timeline. */
const LINE_WIDTH = 60;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A schedule with which the placement is compared; null: it does not exist within K. */
export interface ComparedSchedule {
  readonly kind: string;
  readonly makespanSeconds: number | null;
}

/** A placement as terminal text for an operator: workers' timelines, the reasons of the placement, baselines. */
export function describePlacement(experts: readonly PlacedExpert[], placed: ExpertsPlaced, baselines: readonly ComparedSchedule[]): string {
  const { timed, optimality, maxModelsPerWorker, sweep } = placed;
  const { makespanSeconds } = timed;
  const least = optimality.proven ? "" : ` (no less than ${secondsText(optimality.lowerBoundSeconds)})`;
  const lines = timed.workers.map((sessions, worker) => `  ${String(worker + 1).padStart(3)}  ${lineOf(sessions, makespanSeconds)}`);
  const rows = [
    ["expert", "prompts", "load", "all answers", "workers", ""],
    ...experts.map(({ name, prompts, loadSeconds, cost }, index) => [
      `${letterOf(index)} ${printable(name)}`,
      String(prompts),
      secondsText(loadSeconds),
      secondsText(prompts > 0 ? cost(prompts) : 0),
      String(timed.workers.flat().filter(({ expert }) => expert === index).length),
      placed.says[index] ?? "",
    ]),
  ];
  const swept = sweep.map((each) => `${each.maxModelsPerWorker}: ${secondsText(each.makespanSeconds)}`).join(", ");
  const compared = [
    ["schedule", "makespan", "times ours"],
    ["placed", secondsText(makespanSeconds), ""],
    ...baselines.map((each) => [
      each.kind,
      each.makespanSeconds === null ? `none with ${counted(maxModelsPerWorker, "model")} each` : secondsText(each.makespanSeconds),
      each.makespanSeconds === null || makespanSeconds === 0 ? "" : (each.makespanSeconds / makespanSeconds).toFixed(2),
    ]),
  ];
  return [
    `Makespan ${secondsText(makespanSeconds)}, ${optimalityText(optimality)}${least}; `,
    `${percentText(timed.idle)} idle, ${timed.loads} loads, at most ${counted(maxModelsPerWorker, "model")} a worker\n`,
    sweep.length > 1 ? `By models a worker: ${swept}\n` : "",
    `\nWorkers, each column ${secondsText(makespanSeconds / LINE_WIDTH)}; dots load:\n${lines.map((line) => `${line.trimEnd()}\n`).join("")}`,
    `\n${wideTable(rows)}\n${textTable(compared)}`,
  ].join("");
}

/** A worker's sessions over time: dots where it loads, the expert's letter where it answers. */
function lineOf(sessions: readonly TimedSession[], makespanSeconds: number): string {
  const columnSeconds = makespanSeconds / LINE_WIDTH;
  return Array.from({ length: LINE_WIDTH }, (_, column) => {
    const middleSeconds = (column + 0.5) * columnSeconds;
    const session = sessions.find(({ fromSeconds, untilSeconds }) => middleSeconds >= fromSeconds && middleSeconds < untilSeconds);
    if (session === undefined) return " ";
    return middleSeconds < session.readySeconds ? "." : letterOf(session.expert);
  }).join("");
}

const letterOf = (expert: number): string => LETTERS[expert % LETTERS.length] ?? "?";

/** A terminal interprets control characters. */
const printable = (name: string): string => name.replace(/\p{Cc}/gu, " ");

/** The last column is a sentence, for which no width is reserved. */
function wideTable(rows: readonly (readonly string[])[]): string {
  const narrow = textTable(rows.map((row) => row.slice(0, -1))).split("\n");
  return rows.map((row, index) => `${`${narrow[index] ?? ""}  ${row.at(-1) ?? ""}`.trimEnd()}\n`).join("");
}

const secondsText = (seconds: number): string => `${seconds >= 100 ? seconds.toFixed(1) : Number(seconds.toPrecision(3))} s`;
const percentText = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;
