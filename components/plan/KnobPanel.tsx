"use client";

import type { ClusterSummary } from "@/server/contracts/studio";
import type { Candidate, Knobs } from "@/solver/cascade/explore/exploration";
import { SelectField } from "../ui/Field";
import { formatPercent, formatScoreMargin } from "../ui/format";
import { Knob } from "../ui/Knob";
import type { ModelIdentity } from "../ui/modelIdentity";
import { Panel } from "../ui/Panel";
import { BUDGET_BOUNDS, FLOOR_BOUNDS, type PlanView } from "./address/planCodec";
import { ConstraintsSection } from "./constraints/ConstraintsSection";
import type { PlanDefaults } from "./knobs";

/** Slider end of the latency budget: ten times the latency of the cascade, so that the useful part is not at the far left. */
function budgetEnd(estimate: Candidate | null): number {
  const seconds = estimate === null || !Number.isFinite(estimate.latencySeconds) ? 30 : estimate.latencySeconds;
  return Math.min(BUDGET_BOUNDS.max, Math.max(10, Math.ceil(seconds) * 4));
}

/** Whether an objective is available: those under a latency budget start with one that can be met. */
function askFor(kind: Knobs["kind"], budgetSeconds: number): Partial<PlanView> {
  return kind === "latency-under-quality" ? { kind } : { kind, latencyBudgetSeconds: budgetSeconds };
}

const objectives: readonly { readonly value: Knobs["kind"]; readonly text: string }[] = [
  { value: "latency-under-quality", text: "Lowest latency above the quality floor" },
  { value: "quality-under-latency", text: "Highest quality within the latency budget" },
  { value: "cost-under-both", text: "Lowest cost above the floor and within the budget" },
];

/** The three main knobs, the other settings, and their meaning. */
export function KnobPanel(props: {
  readonly view: PlanView;
  readonly knobs: Knobs;
  readonly defaults: PlanDefaults;
  readonly cluster: ClusterSummary;
  /** Models of the workload. */
  readonly models: readonly string[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly estimate: Candidate | null;
  readonly onDraft: (draft: Partial<Knobs>) => void;
  readonly onChange: (change: Partial<PlanView>, how: "push" | "replace") => void;
}) {
  const { view, knobs, defaults, estimate, onDraft, onChange } = props;
  const end = budgetEnd(estimate);
  const budget = knobs.latencyBudgetSeconds;
  const floor = knobs.qualityFloor ?? defaults.qualityFloor;
  return (
    <Panel title="Settings">
      <div className="flex flex-col gap-5">
        <Knob
          label="Quality floor"
          unit=""
          {...FLOOR_BOUNDS}
          step={0.5}
          value={floor}
          note={
            knobs.qualityConfidence === null
              ? "Applies to the sample's own value: about half of such plans miss it on new traffic."
              : `Applies to the lower ${formatPercent(knobs.qualityConfidence)} bound on new traffic${estimate === null ? "" : `; sampling error ±${formatScoreMargin(estimate.quality - estimate.qualityLow)}`}.`
          }
          onDraft={(qualityFloor) => onDraft({ qualityFloor })}
          onCommit={(qualityFloor) => onChange({ qualityFloor }, "replace")}
          onReset={view.qualityFloor === null ? null : () => onChange({ qualityFloor: null }, "replace")}
        />
        <Knob
          label="Latency budget"
          unit="s"
          min={BUDGET_BOUNDS.min}
          max={Math.max(end, budget ?? 0)}
          step={0.1}
          value={budget ?? end}
          off={budget === null}
          onDraft={(latencyBudgetSeconds) => onDraft({ latencyBudgetSeconds })}
          onCommit={(latencyBudgetSeconds) => onChange({ latencyBudgetSeconds }, "replace")}
          onReset={budget === null ? null : () => onChange({ latencyBudgetSeconds: null, kind: "latency-under-quality" }, "replace")}
        />
        <Knob
          label="GPUs"
          unit={`of ${defaults.gpus}`}
          min={1}
          max={defaults.gpus}
          step={1}
          whole
          value={knobs.maxGpus}
          onDraft={(maxGpus) => onDraft({ maxGpus })}
          onCommit={(gpus) => onChange({ gpus }, "replace")}
          onReset={view.gpus === null ? null : () => onChange({ gpus: null }, "replace")}
        />
        <ConstraintsSection view={view} cluster={props.cluster} models={props.models} identities={props.identities} onChange={onChange} />
        <details className="border-t pt-3">
          <summary className="text-sm font-medium text-ink-2">Objective</summary>
          <div className="mt-3 flex flex-col gap-3">
            <SelectField
              label="Objective"
              value={view.kind}
              options={objectives}
              onChange={(value) => {
                const kind = objectives.find((objective) => objective.value === value)?.value ?? "latency-under-quality";
                onChange(askFor(kind, budget ?? Math.min(end, Math.ceil(estimate?.latencySeconds ?? end))), "push");
              }}
            />
            <SelectField
              label="Latency counted as"
              value={view.latency}
              options={[
                { value: "end-to-end", text: "End to end: every stage visited, judge included" },
                { value: "largest-stage", text: "Largest stage p95" },
              ]}
              onChange={(latency) => onChange({ latency }, "push")}
            />
            <SelectField
              label="The floor applies to"
              value={view.heldFor}
              options={[
                { value: "bound", text: "The lower 90 % confidence bound" },
                { value: "point", text: "The sample's own value" },
              ]}
              onChange={(heldFor) => onChange({ heldFor }, "push")}
            />
          </div>
        </details>
      </div>
    </Panel>
  );
}
