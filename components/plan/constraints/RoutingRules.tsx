import { NumberField, SelectField } from "@/components/ui/Field";
import { type ConstraintsView, type EngineJudge, JUDGE_OUTPUT_BOUNDS, ROUTER_AUC_BOUNDS, RUBRIC_BOUNDS } from "../address/constraintsCodec";
import { OptionalNumber } from "./ClusterRules";

/** Initial values of a judge engine: a rubric of a page, and a score in a few words. */
const BEGIN = { rubricTokens: 400, outputTokens: 20 } as const;
const BEGIN_AUC = 0.85;

/** The judge, and whether a router may skip stages. */
export function RoutingRules(props: {
  readonly judge: EngineJudge | null;
  readonly routerAuc: number | null;
  /** Models that can be run as a judge. */
  readonly models: readonly string[];
  readonly onChange: (change: Partial<ConstraintsView>) => void;
}) {
  const { judge, routerAuc, models, onChange } = props;
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
      <OptionalNumber
        words="A router may start requests at a later stage"
        unit="AUC, modelled"
        value={routerAuc}
        begin={BEGIN_AUC}
        {...ROUTER_AUC_BOUNDS}
        step={0.01}
        onChange={(auc) => onChange({ routerAuc: auc })}
      />
      {routerAuc !== null && (
        <p className="text-xs text-ink-3">
          No router is measured: its scores are simulated to predict right and wrong answers with this AUC.
        </p>
      )}
    </fieldset>
  );
}
