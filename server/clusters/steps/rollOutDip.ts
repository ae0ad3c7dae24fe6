import { startSeconds } from "@/server/clusters/steps/startSeconds";
import { stepSeconds } from "@/server/clusters/steps/stepSeconds";
import type { DipPhase, Outcome, RollOutDip } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { Serving, ServingEngine, ServingFigures } from "@/solver/cascade/whatIf/servingFigures";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { Plan } from "@/solver/plan/plan";
import { secondsText } from "@/solver/wording/wording";
import type { PlannedStep, RollOut } from "./planSteps";
import { rollOutSegments, type Segment } from "./rollOutSegments";
import { plannedLimits, targetEngines } from "./targetEngines";

/** Typical time until a server has ended and released its GPUs, if none was stopped here yet. */
const ASSUMED_STOP_SECONDS = 5;

/** The longest time of a request at the gateway: then it is aborted. */
const LONGEST_DRAIN_SECONDS = 600;

export interface DipAsked {
  readonly rollOut: RollOut;
  readonly steps: readonly PlannedStep[];
  /** null: nothing is in force. */
  readonly running: Plan | null;
  readonly target: Plan;
  /** Per engine second, with a sentence on its source. */
  readonly rate: { readonly requestsPerSecond: number; readonly basis: string };
  /** The latest of this cluster, newest first: the durations of steps here. */
  readonly applications: readonly Pick<StoredApplication, "steps">[];
  readonly timeScale: number;
  /** Simulates a plan's policy on engines at the rate; a sentence if it cannot. */
  readonly serve: (plan: Plan, servings: readonly Serving[]) => Promise<Outcome<{ readonly figures: readonly ServingFigures[] }>>;
}

type Figures = (segment: Pick<Segment, "planId" | "engines">) => ServingFigures | null;

/** The latency of requests while a roll-out runs: each segment of equal routing simulated as plans are, and its expected duration. */
export async function rollOutDip(asked: DipAsked): Promise<Outcome<{ readonly dip: RollOutDip }>> {
  const { rollOut, steps, running, target, rate } = asked;
  const segments = rollOutSegments(rollOut, steps);
  const standing = rollOut.standing.filter(({ id }) => rollOut.routing.active.includes(id));
  const [first, last] = [
    { planId: rollOut.routing.planId, engines: standing },
    { planId: target.id, engines: targetEngines(target) },
  ];
  const figures = await figuresOf(asked, [first, ...segments, last]);
  if (!figures.ok) return figures;
  const at = figures.of;
  const seconds = segmentSeconds(asked, [first, ...segments, last], segments, at);
  const phases = segments.map((segment, index): DipPhase => {
    const { capacityPerSecond = null, p95Seconds = null } = at(segment) ?? {};
    return {
      fromStep: String(segment.fromStep + 1),
      toStep: String(segment.toStep + 1),
      seconds: seconds.each[index] ?? 0,
      planId: segment.planId,
      replicas: segment.models.map((model) => replicasOf(rollOut, segment, model)),
      capacityPerSecond,
      p95Seconds,
    };
  });
  const before = at(first);
  const after = at(last);
  if (after === null) throw new Error("A target plan that is not in force has no figures.");
  const dip = {
    requestsPerSecond: rate.requestsPerSecond,
    basis: [rate.basis, ...seconds.basis, ...simulationBasis(target)],
    before: running === null || before === null ? null : sustained(before),
    phases,
    after: sustained(after),
  };
  return { ok: true, dip: { ...dip, says: worstMoment(dip) } };
}

const sustained = ({ p95Seconds, capacityPerSecond }: ServingFigures) => ({ p95Seconds, capacityPerSecond });

/** Engines of both plans may serve in parallel for a while: then there are more than either has. */
function replicasOf({ routing, standing, target }: RollOut, { planId, engines }: Segment, model: string): DipPhase["replicas"][number] {
  const serving = engines.filter((engine) => engine.model === model).length;
  const whole =
    planId === target.planId ? target.engines : standing.filter(({ id }) => [...routing.active, ...routing.cordoned].includes(id));
  return { model, serving, of: Math.max(serving, whole.filter((engine) => engine.model === model).length) };
}

/** Figures of each segment; equal segments are simulated once, each under the plan whose policy is in force. */
async function figuresOf(
  { running, target, serve }: DipAsked,
  segments: readonly Pick<Segment, "planId" | "engines">[],
): Promise<Outcome<{ readonly of: Figures }>> {
  const limits = new Map([...(running === null ? [] : plannedLimits(running)), ...plannedLimits(target)]);
  const order = new Map(targetEngines(target).map(({ id }, index) => [id, index]));
  const enginesOf = ({ engines }: Pick<Segment, "engines">): readonly ServingEngine[] =>
    // In the order of the plan: of equal engines the first gets requests first.
    [...engines]
      .sort((a, b) => (order.get(a.id) ?? order.size) - (order.get(b.id) ?? order.size))
      .map(({ id, model, gpu, tp, pp }) => ({ model, gpu, tp, pp, maxInFlight: limits.get(id) ?? inFlightLimit({}) }));
  const keyOf = (segment: Pick<Segment, "planId" | "engines">): string => JSON.stringify([segment.planId, enginesOf(segment)]);
  const found = new Map<string, ServingFigures>();
  for (const plan of running === null || running.id === target.id ? [target] : [running, target]) {
    const { policy } = plan;
    const own = new Map(segments.filter(({ planId }) => planId === plan.id).map((segment) => [keyOf(segment), enginesOf(segment)]));
    if (own.size === 0) continue;
    if (policy.kind !== "cascade" && policy.kind !== "slack")
      return {
        ok: false,
        message: `The roll-out cannot be simulated: the policy of ${plan.metadata.name} is ${policy.kind}, and only cascades and slack dispatch are.`,
      };
    const served = await serve(
      plan,
      [...own.values()].map((engines) => ({ policy, engines })),
    );
    if (!served.ok) return served;
    for (const [index, key] of [...own.keys()].entries()) {
      const figures = served.figures[index];
      if (figures !== undefined) found.set(key, figures);
    }
  }
  return { ok: true, of: (segment) => found.get(keyOf(segment)) ?? null };
}

/**
 * The expected duration of each segment, and its basis.
 * @param all with the states before and after.
 */
function segmentSeconds(
  { rollOut, steps, applications, timeScale }: DipAsked,
  all: readonly Pick<Segment, "planId" | "engines">[],
  segments: readonly Segment[],
  figuresAt: Figures,
): { readonly each: readonly number[]; readonly basis: readonly string[] } {
  const start = startSeconds(applications, timeScale);
  const stop = stopSeconds(applications, timeScale);
  const models = new Map([...rollOut.standing, ...rollOut.target.engines].map(({ id, model }) => [id, model]));
  const drain = (engineId: string): number => {
    const longest = all.map((segment) => figuresAt(segment)?.longestSeconds[models.get(engineId) ?? ""] ?? 0);
    return Math.min(LONGEST_DRAIN_SECONDS, Math.max(0, ...longest));
  };
  const each = segments.map(({ fromStep, toStep }) =>
    steps.slice(fromStep, toStep + 1).reduce((sum, { action }, offset) => {
      const before = steps[fromStep + offset - 1]?.action.kind;
      if (action.kind === "start") return sum + (start.measured || before !== "start" ? start.seconds : 0);
      if (action.kind === "drain") return sum + drain(action.engineId);
      return action.kind === "stop" ? sum + stop.seconds : sum;
    }, 0),
  );
  const kinds = new Set(steps.map(({ action }) => action.kind));
  const basis = [
    ...(timeScale === 1 ? [] : [`Lengths are engine seconds: ${timeScale} pass here in a second of the clock, by which steps are timed.`]),
    ...(kinds.has("start") ? [start.basis] : []),
    ...(kinds.has("drain") ? ["An engine drains for as long as its longest request takes in the simulation."] : []),
    ...(kinds.has("stop") ? [stop.basis] : []),
  ];
  return { each, basis };
}

function stopSeconds(
  applications: readonly Pick<StoredApplication, "steps">[],
  timeScale: number,
): { readonly seconds: number; readonly basis: string } {
  const seconds = stepSeconds(applications, timeScale, ["stop"]);
  if (seconds === null)
    return {
      seconds: ASSUMED_STOP_SECONDS,
      basis: `An engine is taken to end within ${ASSUMED_STOP_SECONDS} s: none was stopped here yet.`,
    };
  return { seconds, basis: `An engine takes ${secondsText(seconds)} to end, as measured in the last roll-outs here.` };
}

function simulationBasis({ inputs: { objective } }: Plan): readonly string[] {
  const { percentile, latency } = objective;
  const own = percentile === 95 && latency === "end-to-end";
  const asked = `${percentile}th percentile ${latency === "end-to-end" ? "end to end" : "of its slowest stage"}`;
  return [
    `Latencies are the 95th percentile end to end${own ? "" : ` (the plan's objective is the ${asked})`}, simulated as plans are, each policy with its own plan's workload, cards and engine profile.`,
    "Each segment is simulated as if it lasted: queues of the one before are not carried over.",
  ];
}

/** The worst moment for an operator: a model without an engine, then an overloaded one, then the lowest capacity. */
function worstMoment({ phases, before, after, requestsPerSecond }: Omit<RollOutDip, "says">): string {
  if (phases.length === 0) return "Nothing changes: requests are served as they are now.";
  const inForce = phases.filter(({ planId }) => planId !== null);
  const steps = ({ fromStep, toStep }: DipPhase): string =>
    fromStep === toStep ? `At step ${fromStep}` : `From step ${fromStep} to ${toStep}`;
  const during = (phase: DipPhase): string => `${steps(phase)}, for about ${secondsText(phase.seconds)},`;
  const longest = (some: readonly DipPhase[]): DipPhase | undefined => [...some].sort((a, b) => b.seconds - a.seconds)[0];
  const cut = longest(inForce.filter(({ capacityPerSecond }) => capacityPerSecond === null));
  if (cut !== undefined) {
    const out = cut.replicas.filter(({ serving }) => serving === 0).map(({ model }) => model);
    return `${during(cut)} no engine of ${out.join(" and ")} serves: requests that reach it wait.`;
  }
  const capacity = ({ capacityPerSecond }: Pick<DipPhase, "capacityPerSecond">): number => capacityPerSecond ?? 0;
  const sustains = (phase: DipPhase): string => `the engines that serve sustain ${rateText(capacity(phase))} requests/s`;
  const late = [...inForce].filter(({ p95Seconds }) => p95Seconds === null).sort((a, b) => capacity(a) - capacity(b))[0];
  if (late !== undefined)
    return `${during(late)} ${sustains(late)} of ${rateText(requestsPerSecond)}: they are overloaded, and queues grow.`;
  const [worst] = [...inForce].sort((a, b) => (b.p95Seconds ?? 0) - (a.p95Seconds ?? 0));
  if (worst === undefined) return "No plan is in force during this step.";
  const least = Math.min(...inForce.map(capacity));
  const most = `${latencyText(worst.p95Seconds)} at most, at ${rateText(requestsPerSecond)} requests/s.`;
  if (before === null) return `Nothing is served until step ${inForce[0]?.fromStep}; then ${most}`;
  const [now, then] = [capacity(before), capacity(after)];
  if (least >= 0.999 * now) return `No moment has less capacity than now, ${rateText(now)} requests/s: ${most}`;
  if (least >= 0.999 * then)
    return `Capacity falls from ${rateText(now)} to ${rateText(then)} requests/s, as this plan has it, and no moment has less: ${most}`;
  return `${during(worst)} ${sustains(worst)}: ${latencyText(worst.p95Seconds)} at ${rateText(requestsPerSecond)} requests/s (before ${latencyText(before.p95Seconds)}, after ${latencyText(after.p95Seconds)}).`;
}

const latencyText = (seconds: number | null): string => (seconds === null ? "it is overloaded" : `p95 ${secondsText(seconds)}`);

const rateText = (perSecond: number): string => (perSecond < 10 ? perSecond.toFixed(1) : String(Math.round(perSecond)));
