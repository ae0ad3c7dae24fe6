import type { LabSystem } from "@/server/contracts/studio";
import { orderNames, placeNames } from "@/solver/lab/partNames";
import { systemVariants } from "@/solver/lab/systemVariants";
import { type JustInTimePolicy, type PolicyDocument, singlesPolicyOf } from "@/solver/plan/policySchema";

/** How a system is distinguished on the page. Systems of one name share letter, hue and dash: they are points of one frontier. */
export interface SystemMark {
  readonly index: number;
  readonly name: string;
  /** Its difference from others of its name: "τ 0.5", "margin 0.1"; empty where it is the only one. */
  readonly variant: string;
  readonly label: string;
  readonly letter: string;
  /** CSS colour. */
  readonly hue: string;
  /** SVG dash array; empty: a solid line. */
  readonly dash: string;
}

const HUES = ["g", "a", "b", "h", "d", "c", "f", "e"].map((letter) => `var(--model-${letter})`);
const DASHES = ["", "6 3", "2 3", "8 2 2 2"] as const;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/**
 * Marks of systems in their order: letters and hues by name, so that none is identified by colour alone; after eight names dashes
 * distinguish them.
 */
export function prepareSystems(systems: readonly LabSystem[]): readonly SystemMark[] {
  const names = [...new Set(systems.map(({ name }) => name))];
  const variants = systemVariants(systems);
  return systems.map((system, index) => {
    const variant = variants[index] ?? "";
    const order = names.indexOf(system.name);
    return {
      index,
      name: system.name,
      variant,
      label: variant === "" ? system.name : `${system.name}, ${variant}`,
      letter: LETTERS[order % LETTERS.length] ?? "Z",
      hue: HUES[order % HUES.length] ?? "var(--ink-2)",
      dash: DASHES[Math.floor(order / HUES.length) % DASHES.length] ?? "",
    };
  });
}

/**
 * One system of each name, the middle one where there are several, without those that send all to one model or use an oracle: they
 * are far off and would flatten the rest. An explicit selection takes precedence.
 */
export function shownSystems(
  marks: readonly SystemMark[],
  systems: readonly LabSystem[],
  asked: readonly number[] | null,
): readonly SystemMark[] {
  const wanted = asked === null ? [] : marks.filter(({ index }) => asked.includes(index));
  if (wanted.length > 0) return wanted;
  const choosing = marks.filter(({ index }) => systems[index]?.policy.kind !== "fixed" && systems[index]?.confidence !== "oracle");
  const names = [...new Set((choosing.length > 0 ? choosing : marks).map(({ name }) => name))];
  return names.flatMap((name) => {
    const namesakes = marks.filter((mark) => mark.name === name);
    return namesakes.slice(Math.floor((namesakes.length - 1) / 2)).slice(0, 1);
  });
}

const learntText = (from: LabSystem["confidence"] | LabSystem["lengths"]): string =>
  typeof from === "object" ? `predictor ${from.artefact.slice(0, 8)}` : from === "input" ? "input length" : from;

/** The parts of a system, in a line: `slack τ 0.5 · shortest program first (STJF) · least loaded replica · lengths: learnt`. */
export function systemText({ policy, lengths, confidence, configurations = "none", gates, replicas }: LabSystem): string {
  const place = placeNames[policy.place.kind];
  const parts = [
    routeText(policy),
    policy.order.kind === "mlfq" && policy.order.preempts ? `${orderNames.mlfq}, preempting` : orderNames[policy.order.kind],
    policy.place.affinity === undefined ? place : `${place}, returning to the last`,
  ];
  if (lengths !== "none") parts.push(`lengths: ${learntText(lengths)}`);
  if (confidence !== "none") parts.push(`confidence: ${learntText(confidence)}`);
  if (configurations !== "none")
    parts.push(`accurate configurations: ${configurations === "named" ? "predictors of the plan" : configurations}`);
  if (gates === "never") parts.push("no stage is skipped");
  if (replicas !== undefined) parts.push("own engines");
  return parts.join(" · ");
}

function routeText(policy: PolicyDocument): string {
  switch (policy.kind) {
    case "slack":
      return `slack τ ${policy.tau}${policy.deltaScore > 0 ? `, margin ${policy.deltaScore}` : ""}${policy.price === undefined ? "" : ", busy models priced"}`;
    case "fixed":
      return `all to ${policy.model}`;
    case "cascade":
      return `cascade ${policy.stages.map(({ model }) => model).join(" → ")}`;
    case "balanced":
      return "balanced by waiting and running";
    case "just-in-time":
      return singlesRoute(policy) === null
        ? selectionText(policy.selection)
        : `${selectionText(policy.selection)}, single requests: ${singlesRoute(policy)}`;
  }
}

/** The route of single requests beside rounds; null: the largest model serves them. */
function singlesRoute(policy: JustInTimePolicy): string | null {
  const singles = singlesPolicyOf(policy);
  return singles && routeText(singles);
}

/** The rule by which models are chosen, in a few words. */
function selectionText(selection: JustInTimePolicy["selection"]): string {
  switch (selection.kind) {
    case "beam":
      return `models chosen just in time, beam of width ${selection.width}`;
    case "exhaustive":
      return "models chosen just in time, every assignment tried";
    case "fixed":
      return "one configuration a workflow";
    case "cheapest":
      return "the cheapest accurate configuration, fixed at arrival";
    case "quickest":
      return `the quickest accurate configuration, ${selection.when === "arrival" ? "fixed at arrival" : "again at each stage"}`;
    case "worth":
      return "models chosen just in time, by worth";
  }
}
