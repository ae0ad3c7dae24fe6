import type { GatewayRounds } from "@/server/contracts/studio";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { countInBoth, hasConfiguration, intersection, membersOf } from "@/solver/workflow/configurationSet";
import { type ConfigurationSpace, configurationNames, configurationSpace, spaceRefusal } from "@/solver/workflow/configurationSpace";

export type Path = GatewayRounds["programs"][number];

/**
 * `left`: accurate and consistent with the choices; `pruned`: accurate, but another model was chosen; `never`: not accurate. Accurate as
 * predicted.
 */
export type MarkState = "left" | "pruned" | "never";

export const markWords: Readonly<Record<MarkState, string>> = {
  left: "predicted accurate, still possible",
  pruned: "predicted accurate, ruled out by earlier choices or scores",
  never: "not predicted accurate",
};

export interface LatticeMark {
  readonly configuration: number;
  readonly state: MarkState;
  /** Steps up from the smallest models throughout: its column. */
  readonly upgrades: number;
  /** Position in its column, 0 is the middle. */
  readonly offset: number;
}

interface LatticeLevel {
  readonly upgrades: number;
  readonly all: number;
  readonly accurate: number;
  readonly left: number;
}

export interface Lattice {
  readonly levels: readonly LatticeLevel[];
  /** null: there are too many to draw each. */
  readonly marks: readonly LatticeMark[] | null;
  /** Number of marks, or configurations, of the fullest column. */
  readonly widest: number;
}

/** Three models for each of five agents. */
const MOST_MARKS = 3 ** 5;

/**
 * The space of a program's sets, by the policy that may have made them; null where that policy declares the workflow differently, or not at
 * all.
 */
export function spaceOfPath({ workflow, models, agents, configurations }: Path, policy: PolicyDocument | null): ConfigurationSpace | null {
  const declared = policy?.kind === "just-in-time" ? policy.workflows.find((each) => each.workflow.name === workflow)?.workflow : undefined;
  if (declared === undefined || spaceRefusal(declared, models) !== null) return null;
  const space = configurationSpace(declared, models);
  return space.size === configurations && space.agents.join(" ") === agents.join(" ") ? space : null;
}

const digitsOf = ({ options, steps }: ConfigurationSpace, configuration: number): number[] =>
  options.map((own, choice) => Math.floor(configuration / (steps[choice] ?? 1)) % own.length);

function stateOf(sets: { readonly accurate: Uint32Array; readonly left: Uint32Array }, configuration: number): MarkState {
  if (hasConfiguration(sets.left, configuration)) return "left";
  return hasConfiguration(sets.accurate, configuration) ? "pruned" : "never";
}

const setsOf = ({ accurate, left }: Path) => ({ accurate: Uint32Array.from(accurate), left: Uint32Array.from(left) });

/**
 * Lays out a program's configurations: by the number of steps up from the smallest models, each as a mark or, if there are many, as counts.
 */
export function prepareLattice(path: Path, space: ConfigurationSpace): Lattice {
  const sets = setsOf(path);
  const columns = Array.from({ length: 1 + space.options.reduce((sum, own) => sum + own.length - 1, 0) }, (): number[] => []);
  for (let configuration = 0; configuration < space.size; configuration += 1)
    columns[digitsOf(space, configuration).reduce((sum, digit) => sum + digit, 0)]?.push(configuration);
  const count = (column: readonly number[], set: Uint32Array) => column.filter((each) => hasConfiguration(set, each)).length;
  return {
    levels: columns.map((column, upgrades) => ({
      ...{ upgrades, all: column.length },
      ...{ accurate: count(column, sets.accurate), left: count(column, sets.left) },
    })),
    marks:
      space.size > MOST_MARKS
        ? null
        : columns.flatMap((column, upgrades) =>
            column.map((configuration, at) => ({
              ...{ configuration, upgrades, state: stateOf(sets, configuration) },
              offset: at - (column.length - 1) / 2,
            })),
          ),
    widest: columns.reduce((most, { length }) => Math.max(most, length), 0),
  };
}

/** Configurations one step up or down from one, for one agent. */
export function neighboursOf(space: ConfigurationSpace, configuration: number): readonly number[] {
  return digitsOf(space, configuration).flatMap((digit, choice) => {
    const [step, last] = [space.steps[choice] ?? 1, (space.options[choice]?.length ?? 1) - 1];
    return [...(digit > 0 ? [configuration - step] : []), ...(digit < last ? [configuration + step] : [])];
  });
}

/** A mark on a program's path. */
export interface WayMark {
  readonly configuration: number;
  /** The agents whose models were known at that point. */
  readonly decided: readonly string[];
}

/**
 * A program's path through the lattice: after each choice, the remaining configuration with the most steps up, from the largest models
 * throughout to the result. Choices are ordered by depth in the workflow; the order of parallel agents is not recorded.
 */
export function prepareWay(path: Path, space: ConfigurationSpace): readonly WayMark[] {
  const steps = (configuration: number) => digitsOf(space, configuration).reduce((sum, digit) => sum + digit, 0);
  const largestOf = (set: Uint32Array): number | undefined =>
    membersOf(set).reduce<number | undefined>((best, each) => (best !== undefined && steps(best) >= steps(each) ? best : each), undefined);
  const chosen = space.agents
    .flatMap((agent, at) => ((path.chosen[at] ?? -1) < 0 ? [] : [{ agent, at }]))
    .toSorted((a, b) => (space.depth[b.at] ?? 0) - (space.depth[a.at] ?? 0));
  let set: Uint32Array = setsOf(path).accurate;
  const first = largestOf(set);
  const way: WayMark[] = first === undefined ? [] : [{ configuration: first, decided: [] }];
  for (const [count, { at }] of chosen.entries()) {
    const having = space.having[at]?.[path.chosen[at] ?? -1];
    if (having === undefined) break;
    set = intersection(set, having);
    const configuration = largestOf(set);
    // Nothing is left where an engine failed and its call was moved.
    if (configuration === undefined) break;
    way.push({ configuration, decided: chosen.slice(0, count + 1).map(({ agent }) => agent) });
  }
  return way;
}

/**
 * The configuration that a key selects: arrows move within a column or between columns, Home and End to the first and the last; at the edge
 * it stays.
 */
export function stepTo(marks: readonly LatticeMark[], from: number, key: string): number {
  if (key === "Home") return marks[0]?.configuration ?? from;
  if (key === "End") return marks.at(-1)?.configuration ?? from;
  const mark = marks.find(({ configuration }) => configuration === from);
  if (mark === undefined) return from;
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
  const column = marks.filter(({ upgrades }) => upgrades === mark.upgrades + (dx ?? 0));
  const distance = ({ offset }: LatticeMark) => Math.abs(offset - mark.offset - (dy ?? 0));
  return column.reduce((best, each) => (distance(each) < distance(best) ? each : best), column[0] ?? mark).configuration;
}

/**
 * A configuration in words: each agent's model, and the configuration's state. `final`: the one with every agent's choice; null: some are
 * undecided.
 */
export function configurationWords(space: ConfigurationSpace, mark: LatticeMark, final: number | null): string {
  const names = Object.entries(configurationNames(space, mark.configuration)).map(([agent, model]) => `${agent} ${model}`);
  return `${names.join(", ")}: ${mark.configuration === final ? "result" : markWords[mark.state]}`;
}

/** A configuration's position on its program's path, in words; null where it is not on it. */
export function wayWords(way: readonly WayMark[], configuration: number): string | null {
  const mark = way.findLast((each) => each.configuration === configuration);
  if (mark === undefined) return null;
  return mark.decided.length === 0
    ? "The path starts here."
    : `On the path: the largest configuration left after ${mark.decided.join(", ")}.`;
}

/** The state of a model for an agent of a program. */
export type CellState = "chosen" | "possible" | "gone" | "never" | "barred";

export const cellWords: Readonly<Record<CellState, { readonly sign: string; readonly word: string }>> = {
  chosen: { sign: "◆", word: "chosen" },
  possible: { sign: "●", word: "possible" },
  gone: { sign: "○", word: "ruled out" },
  never: { sign: "·", word: "not predicted accurate" },
  barred: { sign: "–", word: "not allowed" },
};

export interface AgentChoice {
  readonly agent: string;
  readonly cells: readonly { readonly model: string; readonly state: CellState; readonly configurations: number }[];
}

/** Which models each agent of a program has got or may still get. Without its space only the choices are known. */
export function prepareChoices(path: Path, space: ConfigurationSpace | null): readonly AgentChoice[] {
  const { accurate, left } = setsOf(path);
  return path.agents.map((agent, at) => ({
    agent,
    cells: path.models.flatMap((model, index) => {
      const having = space?.having[at]?.[index];
      const isChosen = path.chosen[at] === index;
      if (space === null || having === undefined) return isChosen ? [{ model, state: "chosen" as const, configurations: 0 }] : [];
      const configurations = countInBoth(left, having);
      const isBarred = !(space.options[space.choiceOf[at] ?? 0] ?? []).includes(index);
      const isOpen = (path.chosen[at] ?? -1) === -1;
      const rest = countInBoth(accurate, having) > 0 ? "gone" : "never";
      const state = isChosen ? "chosen" : isBarred ? "barred" : isOpen && configurations > 0 ? "possible" : rest;
      return [{ model, state, configurations }];
    }),
  }));
}
