import type { LabReplicas, LabSuggestion, LabSystem } from "@/server/contracts/studio";
import { BEAM_WIDTH } from "@/solver/lab/aragogSystems";
import { capacityPrice } from "@/solver/lab/suggestedSystems";
import { MOST_TAU } from "@/solver/plan/planSlack";
import { modelsOf, type OrderDocument, type PolicyDocument, roundChoices, withSinglesPolicy } from "@/solver/plan/policySchema";
import { prepareSystems } from "./prepareSystems";

type Choice = Pick<LabSuggestion, "systems" | "spec">;
type SlackDocument = Extract<PolicyDocument, { kind: "slack" }>;
type BalancedDocument = Extract<PolicyDocument, { kind: "balanced" }>;
type JustInTimeDocument = Extract<PolicyDocument, { kind: "just-in-time" }>;
type CascadeDocument = Extract<PolicyDocument, { kind: "cascade" }>;

export const orders = ["fcfs", "sjf", "stjf", "workflow", "depth", "mlfq"] as const;
export const places = ["least-load", "prefix", "lowest-kv", "round-robin", "time-slots"] as const;

/** A system in the form that composes it from parts. */
export interface SystemForm {
  readonly name: string;
  /** `slack`, `balanced`, `just-in-time`, `joint`, or a model that gets all requests. */
  readonly route: string;
  readonly tau: number;
  readonly deltaScore: number;
  readonly changesModel: boolean;
  /** Whether models count with their confidence less the price of their capacity. */
  readonly priced: boolean;
  /** For a route at dispatch: partial assignments that its search keeps. */
  readonly beamWidth: number;
  readonly order: (typeof orders)[number];
  readonly place: (typeof places)[number];
  readonly affinity: boolean;
  /** A source by its name, or an artefact by its hash. */
  readonly lengths: string;
  readonly confidence: string;
  readonly configurations: NonNullable<LabSystem["configurations"]>;
}

export const newForm: SystemForm = {
  ...{ name: "My system", route: "slack", tau: 0.5, deltaScore: 0, changesModel: false, priced: false, order: "stjf", place: "least-load" },
  ...{ affinity: false, lengths: "learnt", confidence: "learnt", beamWidth: BEAM_WIDTH, configurations: "none" },
};

/**
 * Adapts a form to a route: where models are chosen at dispatch, requests are served in the order of arrival, and only configurations are
 * read.
 */
export const routed = (form: SystemForm, route: string): SystemForm =>
  route === "just-in-time" || route === "joint"
    ? { ...form, route, order: "fcfs", affinity: false, lengths: "none", confidence: "none", configurations: "learnt" }
    : { ...form, route, configurations: "none" };

/** Bounds of the fields. */
export const MOST_BEAM_WIDTH = 64;

/** How much higher the load of a program's last replica may be for the program to return to it. */
const AFFINITY_RATIO = 0.5;

/** Default number of releases after which a waiting request goes first, where no suggested system sets it. */
const AGING_THRESHOLD = 1000;

function policyOf<Kind extends PolicyDocument["kind"]>({ systems }: { readonly systems: readonly LabSystem[] }, kind: Kind) {
  for (const { policy } of systems) if (policy.kind === kind) return policy as Extract<PolicyDocument, { kind: Kind }>;
  return null;
}

/** The cascade by which single requests may be served beside rounds: that of the first system that has one; null: none has. */
export const cascadeAmong = (systems: readonly LabSystem[]): CascadeDocument | null => policyOf({ systems }, "cascade");

/** Models that have engines, each once. */
export const enginesModels = (replicas: readonly LabReplicas[]): readonly string[] => [...new Set(replicas.map(({ model }) => model))];

function orderOf(form: SystemForm, { systems }: Choice): OrderDocument {
  if (form.order === "fcfs") return { kind: "fcfs" };
  const known = systems.map(({ policy }) => policy.order).find(({ kind }) => kind === form.order);
  if (known !== undefined) return known;
  const aging = systems.map(({ policy }) => policy.order).find((order) => "agingThreshold" in order);
  const agingThreshold = aging !== undefined && "agingThreshold" in aging ? aging.agingThreshold : AGING_THRESHOLD;
  return form.order === "mlfq" ? { kind: "mlfq", quantaSeconds: [1, 2, 4, 8, 16], agingThreshold } : { kind: form.order, agingThreshold };
}

function sourceOf(text: string): LabSystem["confidence"] {
  return text === "none" || text === "oracle" || text === "learnt" ? text : { artefact: text };
}

/**
 * A system from a form's parts, with the engines' figures of the suggested ones; or the reason, in a sentence, if those lack them.
 * `systemRefusal` checks whether its parts are compatible.
 *
 * @param cascade by which single requests are served beside rounds; null: there is none.
 */
export function composeSystem(
  form: SystemForm,
  choice: Choice,
  cascade: CascadeDocument | null = null,
): LabSystem | { readonly refused: string } {
  const place = { kind: form.place, ...(form.affinity && { affinity: { ratio: AFFINITY_RATIO } }) };
  const queueing = { order: orderOf(form, choice), place };
  const reads = {
    lengths: form.lengths === "input" ? ("input" as const) : sourceOf(form.lengths),
    confidence: sourceOf(form.confidence),
  };
  const name = form.name.trim();
  if (name === "") return { refused: "A system needs a name." };
  if (form.route === "slack") {
    const known = policyOf(choice, "slack");
    if (known === null) return { refused: "Slack dispatch chooses between models, and only one model has engines here." };
    const { tau, deltaScore } = form;
    const approvedRanges = { tau: { min: 0, max: Math.max(tau, MOST_TAU) }, deltaScore: { min: 0, max: 1 } };
    const { changesModel: _, price: __, ...rest } = known;
    const options = { ...(form.changesModel && { changesModel: true as const }), ...(form.priced && { price: capacityPrice }) };
    const policy = { ...rest, tau, deltaScore, ...options, ...queueing, approvedRanges };
    return { name, policy, ...reads };
  }
  if (form.route === "just-in-time" || form.route === "joint") {
    const known = policyOf(choice, "just-in-time");
    if (known === null) return { refused: "Models are chosen at dispatch for workflows as Aragog's, and the mix has none of them." };
    const rounds = { ...reads, configurations: form.configurations };
    const selection = { kind: "beam" as const, width: form.beamWidth };
    if (form.route === "just-in-time") return { name, policy: { ...known, selection, ...queueing }, ...rounds };
    if (cascade === null) return { refused: "No system here has a cascade for single requests: add a plan that has one." };
    const joint = withSinglesPolicy({ ...known, selection: roundChoices.worth }, cascade);
    return { name, policy: { ...joint, ...queueing }, ...rounds };
  }
  if (form.route === "balanced") {
    const known = policyOf(choice, "balanced");
    if (known === null) return { refused: "These engines have no figures to balance by." };
    return { name, policy: { ...known, ...queueing }, ...reads };
  }
  return { name, policy: { kind: "fixed", model: form.route, ...queueing }, ...reads };
}

/** Whether two systems are equal except for what the engines decide: decode times, batches, stated confidence. */
export function isSameSystem(a: LabSystem, b: LabSystem): boolean {
  return key(a) === key(b);
}

/** Systems that match no suggested one: custom ones, and duplicates. */
export const ownSystems = (systems: readonly LabSystem[], suggested: readonly LabSystem[]): readonly LabSystem[] =>
  systems.filter(
    (system, index) =>
      !suggested.some((each) => isSameSystem(each, system)) || systems.slice(0, index).some((each) => isSameSystem(each, system)),
  );

/**
 * Why a system is not added to a race, in a sentence; null when it can be: a duplicate under another name would only make the race slower.
 */
export function repeatRefusal(system: LabSystem, systems: readonly LabSystem[]): string | null {
  const at = systems.findIndex((each) => isSameSystem({ ...each, name: system.name }, system));
  return at < 0 ? null : `This system is in the race already, as ${prepareSystems(systems)[at]?.label}.`;
}

function key({ name, policy, lengths, confidence, configurations, replicas }: LabSystem): string {
  const order = policy.order.kind === "mlfq" && policy.order.preempts ? "mlfq, preempting" : policy.order.kind;
  const parts = [...partsOf(policy), order, policy.place, lengths, confidence, configurations ?? "none", replicas];
  return JSON.stringify([name, policy.kind, ...parts]);
}

/** The identity of policies of one kind, independent of the engines. */
function partsOf(policy: PolicyDocument): readonly unknown[] {
  switch (policy.kind) {
    case "slack":
      return [policy.tau, policy.deltaScore, policy.changesModel, policy.price];
    case "fixed":
      return [policy.model];
    case "just-in-time":
      // Per-workflow's configuration depends on the engines.
      return [policy.selection.kind === "fixed" ? "fixed" : policy.selection, policy.singles];
    default:
      return [];
  }
}

/** Models that systems send requests to and that no engine serves, each once. */
export const lackingModels = (systems: readonly LabSystem[], replicas: readonly LabReplicas[]): readonly string[] => [
  ...new Set(
    systems.flatMap((system) =>
      modelsOf(system.policy).filter((model) => (system.replicas ?? replicas).every((each) => each.model !== model)),
    ),
  ),
];

/**
 * Systems that can be raced on these engines: with the models, orders and figures of the suggestion for them, and without those that would
 * still send requests to models without engines. If none is left, all suggested systems.
 */
export function fitRace(systems: readonly LabSystem[], suggestion: Pick<Choice, "systems">, replicas: readonly LabReplicas[]): LabSystem[] {
  const fitted = fitSystems(systems, suggestion).filter((system) => lackingModels([system], replicas).length === 0);
  return fitted.length > 0 ? fitted : suggestion.systems.map(bareSystem);
}

/** Without the sentence that describes a suggested system, which is not part of a description. */
export const bareSystem = ({ about: _, ...system }: Choice["systems"][number]): LabSystem => system;

/** Systems with the models, orders and figures that the suggestion has for the current engines. Those with their own engines stay. */
export function fitSystems(systems: readonly LabSystem[], suggestion: Pick<Choice, "systems">): LabSystem[] {
  const slack = policyOf(suggestion, "slack");
  const balanced = policyOf(suggestion, "balanced");
  const chosen = suggestion.systems.flatMap(({ policy }) => (policy.kind === "just-in-time" ? [policy] : []));
  const fitted = suggestion.systems.map(({ policy }) => policy.order);
  return systems.map((system) => {
    if (system.replicas !== undefined) return system;
    const { policy } = system;
    const order = fitted.find(({ kind }) => kind === policy.order.kind) ?? policy.order;
    const fits = policy.kind === "just-in-time" ? fitChoice(policy, chosen) : fitPolicy(policy, slack, balanced);
    return { ...system, policy: { ...fits, order } };
  });
}

function fitPolicy(policy: PolicyDocument, slack: SlackDocument | null, balanced: BalancedDocument | null): PolicyDocument {
  if (policy.kind === "slack" && slack !== null) return { ...policy, models: slack.models, floorSeconds: slack.floorSeconds };
  return policy.kind === "balanced" && balanced !== null ? { ...policy, models: balanced.models } : policy;
}

/**
 * The models' curves and the workflows of the suggestion. A workflow that the policy states itself, such as one with the same model for
 * two agents, is kept. Per-workflow's configurations are those for the engines.
 */
function fitChoice(policy: JustInTimeDocument, suggested: readonly JustInTimeDocument[]): JustInTimeDocument {
  const [known] = suggested;
  if (known === undefined) return policy;
  const fixed = suggested.find(({ selection }) => selection.kind === "fixed");
  return {
    ...policy,
    models: known.models,
    workflows: known.workflows.map((each) => policy.workflows.find(({ workflow }) => workflow.name === each.workflow.name) ?? each),
    selection: policy.selection.kind === "fixed" && fixed !== undefined ? fixed.selection : policy.selection,
  };
}

/** Whether systems were made for other engines than the suggestion is for. */
export function areStale(systems: readonly LabSystem[], suggestion: Pick<Choice, "systems">): boolean {
  return JSON.stringify(fitSystems(systems, suggestion)) !== JSON.stringify(systems);
}
