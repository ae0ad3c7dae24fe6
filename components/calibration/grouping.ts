import type { ServingRow } from "@/solver/calibration/servingRow";
import { engineNames } from "@/solver/hardware/engineProfile";
import { identifyModels } from "../ui/modelIdentity";

/** How rows are grouped in the table of errors and in the marks of the chart. */
export const groupings = ["model", "gpu", "engine", "tp"] as const;
export type Grouping = (typeof groupings)[number];

export const groupingNames: Readonly<Record<Grouping, string>> = { model: "model", gpu: "GPU", engine: "engine", tp: "tensor parallelism" };

/** A group's letter and colour, the same in chart, legend and tables. */
export interface GroupMark {
  readonly key: string;
  readonly name: string;
  readonly letter: string;
  readonly hue: string;
}

export function groupKey({ model, gpu, engine, shape }: ServingRow, by: Grouping): string {
  return { model, gpu, engine, tp: String(shape.tp) }[by];
}

const LETTERS = ["A", "B", "C", "D", "E", "F", "G", "H"] as const;
/** Hues that differ most come first. */
const HUES = ["c", "g", "b", "h", "d", "f", "a", "e"] as const;

/** Marks of groups in the order of their keys. Models keep the letter and the hue they have on every page; of other groups more than eight share. */
export function groupMarks(keys: Iterable<string>, by: Grouping): ReadonlyMap<string, GroupMark> {
  const sorted = [...new Set(keys)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const identities = by === "model" ? identifyModels(sorted) : null;
  return new Map(
    sorted.map((key, index) => {
      const identity = identities?.get(key);
      const hue = identity?.hue ?? `var(--model-${HUES[index % HUES.length]})`;
      const letter = identity?.letter ?? (by === "tp" ? key : (LETTERS[index % LETTERS.length] ?? "A"));
      return [key, { key, name: groupName(key, by), letter, hue }];
    }),
  );
}

function groupName(key: string, by: Grouping): string {
  if (by === "tp") return `tp ${key}`;
  return by === "engine" && Object.hasOwn(engineNames, key) ? engineNames[key as keyof typeof engineNames] : key;
}
