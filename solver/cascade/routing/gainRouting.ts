import type { CascadeRoutingDocument } from "@/solver/nextModel/cascadeRoutingDocument";
import { nextModelOf, type ScoredAnswer } from "@/solver/nextModel/nextModel";
import type { CascadePolicy } from "@/solver/plan/plan";
import { judgedStages, type PlanningSample, type Routed, routePrompts, shareOfEach } from "./routing";

/**
 * Sends every prompt of the sample through cascade routing (`nextModel.ts`), as the policy does with the scores of router and gates in the
 * table. Prompts may pass stages over.
 *
 * @param stages indices into `sample.models`, one for each stage of the document.
 * @throws where the sample has no router scores: a bug.
 */
export function routeByGain(sample: PlanningSample, stages: readonly number[], document: CascadeRoutingDocument): Routed {
  const { routerScore, prompts } = sample;
  if (routerScore === undefined) throw new Error("cascade routing needs router scores");
  const next = nextModelOf(document);
  const start = new Uint8Array(prompts);
  const exit = new Uint8Array(prompts);
  const visits = new Uint8Array(prompts);
  const scored = new Uint8Array(prompts);
  const accepted = new Float64Array(prompts);
  const count = stages.map(() => 0);
  let [sum, judgements] = [0, 0];
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    const scores = stages.map((model) => routerScore[model]?.[prompt] ?? 0);
    const answers: ScoredAnswer[] = [];
    let at = next.choose(scores, answers).stage ?? 0;
    start[prompt] = at;
    for (;;) {
      visits[prompt] = (visits[prompt] ?? 0) | (1 << at);
      count[at] = (count[at] ?? 0) + 1;
      if (!next.scores(scores, answers, at)) break;
      const model = stages[at] ?? 0;
      judgements += sample.asksJudge === undefined ? 1 : (sample.asksJudge[model]?.[prompt] ?? 0);
      scored[prompt] = (scored[prompt] ?? 0) | (1 << at);
      answers.push({ stage: at, score: sample.judged[model]?.[prompt] ?? 0 });
      const { stage } = next.choose(scores, answers);
      if (stage === null) break;
      at = stage;
    }
    exit[prompt] = at;
    const value = sample.label[stages[at] ?? 0]?.[prompt] ?? 0;
    accepted[prompt] = value;
    sum += value;
  }
  return {
    start,
    exit,
    visits,
    scored,
    accepted,
    share: count.map((own) => own / prompts),
    startShare: shareOfEach(start, stages.length),
    judged: judgedStages(document.gates.map((gate) => (gate === null ? 0 : 1))),
    judgements: judgements / prompts,
    quality: sum / prompts,
  };
}

/** Routes a sample of a policy's own models, in the order of its stages, as the policy does. */
export function routeByPolicy(
  sample: PlanningSample,
  { thresholds, directStart, cascadeRouting }: Pick<CascadePolicy, "thresholds" | "directStart" | "cascadeRouting">,
): Routed {
  const stages = sample.models.map((_, stage) => stage);
  return cascadeRouting === undefined
    ? routePrompts(sample, stages, thresholds, directStart?.below ?? 0)
    : routeByGain(sample, stages, cascadeRouting);
}
