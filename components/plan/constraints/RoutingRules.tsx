import { NumberField, SelectField } from "@/components/ui/Field";
import {
  type ConstraintsView,
  type EngineJudge,
  hashOfRouter,
  JUDGE_OUTPUT_BOUNDS,
  type PlannedRouter,
  ROUTER_AUC_BOUNDS,
  RUBRIC_BOUNDS,
  routerNamed,
} from "../address/constraintsCodec";

/** Initial values of a judge engine: a rubric of a page, and a score in a few words. */
const BEGIN = { rubricTokens: 400, outputTokens: 20 } as const;
const BEGIN_AUC = 0.85;

/** @param named hash of the router that is offered by name; null: there is none. */
function routerOfChoice(kind: string, named: string | null): PlannedRouter | null {
  if (kind === "" || kind === "trained") return kind === "" ? null : kind;
  return named !== null && kind === routerNamed(named) ? routerNamed(named) : BEGIN_AUC;
}

/** The judge, and whether a router may skip stages. */
export function RoutingRules(props: {
  readonly judge: EngineJudge | null;
  readonly router: PlannedRouter | null;
  /** Models that can be run as a judge. */
  readonly models: readonly string[];
  readonly onChange: (change: Partial<ConstraintsView>) => void;
}) {
  const { judge, router, models, onChange } = props;
  const named = hashOfRouter(router);
  const choices = judge === null || models.includes(judge.model) ? models : [judge.model, ...models];
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-semibold">Judge and router</legend>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <SelectField
          label="Answers are judged by"
          value={judge?.model ?? ""}
          options={[
            { value: "", text: "a judge outside the plan" },
            ...choices.map((model) => ({ value: model, text: `${model}, an engine here` })),
          ]}
          onChange={(model) => onChange({ judge: model === "" ? null : { ...BEGIN, ...judge, model } })}
        />
        {judge !== null && (
          <>
            <NumberField
              label="Rubric"
              unit="tokens"
              {...RUBRIC_BOUNDS}
              whole
              value={judge.rubricTokens}
              onChange={(rubricTokens) => onChange({ judge: { ...judge, rubricTokens } })}
            />
            <NumberField
              label="Its answer"
              unit="tokens"
              {...JUDGE_OUTPUT_BOUNDS}
              whole
              value={judge.outputTokens}
              onChange={(outputTokens) => onChange({ judge: { ...judge, outputTokens } })}
            />
          </>
        )}
      </div>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <SelectField
          label="Requests start at"
          value={typeof router === "number" ? "modelled" : (router ?? "")}
          options={[
            { value: "", text: "the first stage" },
            { value: "trained", text: "a later stage where a trained router is sure" },
            ...(named === null ? [] : [{ value: String(router), text: `a later stage where the router ${named.slice(0, 8)} is sure` }]),
            { value: "modelled", text: "a later stage where a modelled router is sure" },
          ]}
          onChange={(kind) => onChange({ router: routerOfChoice(kind, named) })}
        />
        {typeof router === "number" && (
          <NumberField
            label="The router predicts right answers with"
            unit="AUC"
            {...ROUTER_AUC_BOUNDS}
            value={router}
            onChange={(auc) => onChange({ router: auc })}
          />
        )}
      </div>
      {named !== null && (
        <p className="text-xs text-ink-3">
          The predictor of confidence that the plan names, by its hash. A trained router without a hash is the newest of this workload.
        </p>
      )}
      {router === "trained" && (
        <p className="text-xs text-ink-3">
          The newest predictor of confidence that was trained on this workload. The plan names it, and the gateway gets it.
        </p>
      )}
      {typeof router === "number" && (
        <p className="text-xs text-ink-3">
          An upper bound: its scores are simulated from the right and wrong answers, so it knows what no prompt reveals.
        </p>
      )}
    </fieldset>
  );
}
