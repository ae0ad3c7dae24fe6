import type { Action, Outage, Start, StartingRequest, WaitingWork } from "../core/policy";
import type { Route } from "../core/policyParts";
import { answeringStage, passedOver } from "./answeringStage";

/** Where requests of a route continue: from their start, after an answer, or when their stage cannot answer. */
export interface StageMoves {
  start(request: StartingRequest): Start;
  /** The route's verdict on answered work, or what follows where its next stage cannot answer. */
  judged(work: WaitingWork, judgedScore: number | null, outage: Outage | undefined): Action;
  /** During one decision: whether queued work waits for a stage that cannot answer it. */
  stuck(outage: Outage | undefined): (work: WaitingWork) => boolean;
  /** What follows for it. */
  movedOn(work: WaitingWork, outage: Outage | undefined): Action;
}

/** The data that determines which stages can answer one piece of work. */
interface Answerable {
  readonly outage: Outage | undefined;
  readonly failed?: readonly number[] | undefined;
  readonly answered?: readonly number[] | undefined;
  readonly barred?: readonly number[] | undefined;
}

/**
 * Work of a stage that cannot answer it, because its model is lost or its engines failed it, continues at the stage that `answeringStage`
 * returns, and is refused where there is none. An answer that the route would escalate is accepted where that stage is its own. For work that
 * must not visit the stages from there on, the route ends below them, whatever may answer in an outage.
 */
export function stageMoves(route: Route): StageMoves {
  const stages = route.models.length;
  const models = [...new Set(route.models)];

  const lowerMayAnswer = (outage: Outage | undefined): boolean => route.unordered === true || outage?.lowerMayAnswer !== false;

  /** The stage for work that the route assigns to `wanted`; null where no stage may and can answer it. */
  function stageFor(wanted: number, { outage, failed = [], answered = [], barred = [] }: Answerable): number | null {
    const canAnswer = (stage: number): boolean =>
      answered.includes(stage) || !(barred.includes(stage) || failed.includes(stage) || outage?.isLost(route.models[stage] ?? ""));
    const endsBelow = barred.length > 0 && route.models.every((_, stage) => stage < wanted || barred.includes(stage));
    return answeringStage(wanted, { stages, canAnswer, lowerMayAnswer: endsBelow || lowerMayAnswer(outage) });
  }

  function refusal(wanted: number, { id: workId }: WaitingWork, outage: Outage | undefined): Action {
    const may = lowerMayAnswer(outage) ? models : route.models.slice(wanted);
    return { kind: "refuse", workId, cause: "no-stage", reason: `No engine of ${may.join(" or ")} can answer at the moment.` };
  }

  const reasoned = (wanted: number, stage: number) => ({
    stage,
    reason: stage < wanted ? ("lower-stage" as const) : ("stage-skipped" as const),
    skipped: passedOver(wanted, stage, stages),
  });

  return {
    start(request) {
      const start = route.start(request);
      const { outage, barredStages: barred } = request;
      if (outage === undefined && barred === undefined) return start;
      const stage = stageFor(start.stage, { outage, barred });
      return stage === null || stage === start.stage ? start : { ...reasoned(start.stage, stage), wantedReason: start.reason };
    },
    judged(work, judgedScore, outage) {
      const { id: workId, stage: own, failedStages: failed, answeredStages = [], barredStages: barred } = work;
      const verdict = route.verdict(own, judgedScore, work.evidence);
      if (verdict.kind === "accept") return { ...verdict, workId };
      const stage = stageFor(verdict.stage, { outage, failed, barred, answered: [...answeredStages, own] });
      if (stage === verdict.stage) return { ...verdict, workId };
      if (stage === null) return refusal(verdict.stage, work, outage);
      const { reason, skipped } = reasoned(verdict.stage, stage);
      const moved = { workId, reason, skipped, ...(verdict.grace && { grace: verdict.grace }) };
      return stage === own ? { kind: "accept", ...moved } : { kind: "escalate", stage, ...moved };
    },
    stuck(outage) {
      const lost = outage && route.models.map((model) => outage.isLost(model));
      return ({ stage, failedStages, barredStages }) =>
        lost?.[stage] === true || failedStages?.includes(stage) === true || barredStages?.includes(stage) === true;
    },
    movedOn(work, outage) {
      const { id: workId, stage: wanted, failedStages: failed, answeredStages: answered, barredStages: barred } = work;
      const stage = stageFor(wanted, { outage, failed, answered, barred });
      return stage === null ? refusal(wanted, work, outage) : { kind: "skip", workId, ...reasoned(wanted, stage) };
    },
  };
}
