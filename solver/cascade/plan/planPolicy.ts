import type { GateDocument } from "@/solver/gates/gateDocument";
import { routerOf } from "@/solver/plan/directStart";
import type { CascadePolicy } from "@/solver/plan/plan";
import { judgesAny, scoresByJudge } from "@/solver/plan/policySchema";
import { gateDocumentsOf, whenUnscored } from "@/solver/stageGates/stageGate";
import type { Finalist } from "../deploy/finalist";
import { approvedRanges } from "./approvedRanges";
import type { CompleteInput } from "./planInput";
import type { DeployedRouting } from "./thresholdSettings";

/**
 * The policy of a routing. Without a deployment the approved ranges are the thresholds themselves, as a simulation needs no others; so they are
 * where no answer gets a score, as no gate is planned for.
 */
export function planPolicy(
  input: Pick<CompleteInput, "explorer" | "judge" | "objective" | "profile">,
  routing: number,
  finalist: Finalist | null,
): CascadePolicy {
  const { explorer, judge } = input;
  const { stages, thresholds, startBelow, byGain } = explorer.routing(routing);
  const { directStart } = explorer.input;
  const scores = judgesAny(thresholds);
  const gates = gateDocuments(explorer, stages);
  const judges = scoresByJudge(thresholds, gates ?? thresholds.map(() => ({ kind: "judge" })));
  const ranges =
    finalist === null || !scores || byGain !== undefined
      ? thresholds.map((threshold) => ({ min: threshold, max: threshold }))
      : approvedRanges(explorer, deployedRouting(input, finalist));
  return {
    kind: "cascade",
    stages: stages.map((model) => ({ model: explorer.input.sample.models[model] ?? "" })),
    thresholds: [...thresholds],
    judge: {
      ...judgeOf(judge, { judges, meanSeconds: finalist?.judgeMeanSeconds ?? judge.secondsPerCall }),
      ...(scores && whenUnscored(gates ?? []) === "largest" ? { whenDown: "largest" as const } : {}),
    },
    ...(gates === undefined ? {} : { gates: [...gates] }),
    ...(directStart === undefined || startBelow === 0
      ? {}
      : { directStart: { below: typeof startBelow === "number" ? startBelow : [...startBelow], router: routerOf(directStart) } }),
    ...(byGain === undefined
      ? {}
      : {
          // Requests without a score of every model start at the first stage.
          directStart: { below: thresholds.map(() => 0), router: routerOf(byGain.router) },
          cascadeRouting: byGain.document,
        }),
    order: { kind: "fcfs" },
    place: { kind: "least-load" },
    approvedRanges: { thresholds: ranges },
  };
}

/** The gates of a cascade's stages; undefined for the judge alone. */
function gateDocuments(
  { input: { gates, sample } }: CompleteInput["explorer"],
  stages: readonly number[],
): readonly GateDocument[] | undefined {
  if (gates === undefined || stages.length === 1) return undefined;
  return gateDocumentsOf(
    gates.stages,
    stages.map((model) => sample.models[model] ?? ""),
  );
}

/** A finalist as its thresholds may move on its replicas. */
export function deployedRouting({ objective, profile }: Pick<CompleteInput, "objective" | "profile">, finalist: Finalist): DeployedRouting {
  return { ...finalist, deployment: [...finalist.deployment, ...finalist.kept], objective, profile };
}

/** The judge of a plan: a separate engine runs only where something is judged; its call time is that of the simulation. */
function judgeOf(
  { engine, ...judge }: CascadePolicy["judge"],
  { judges, meanSeconds }: { readonly judges: boolean; readonly meanSeconds: number },
): CascadePolicy["judge"] {
  if (engine === undefined || !judges) return judge;
  return { ...judge, engine, secondsPerCall: meanSeconds };
}
