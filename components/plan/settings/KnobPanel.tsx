"use client";

import type { ClusterSummary } from "@/server/contracts/studio";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { GateChoice } from "@/solver/plan/planGates";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import { Button } from "../../ui/Button";
import { type Option, SelectField } from "../../ui/Field";
import { formatPercent, formatScoreMargin } from "../../ui/format";
import { Knob } from "../../ui/Knob";
import type { ModelIdentity } from "../../ui/modelIdentity";
import { Panel } from "../../ui/Panel";
import type { DraftKnobs, PlanDefaults } from "../address/knobs";
import { BUDGET_BOUNDS, FLOOR_BOUNDS, type PlanView, SLACK_BOUNDS, TAU_BOUNDS } from "../address/planCodec";
import { ConstraintsSection } from "../constraints/ConstraintsSection";
import type { PlanEstimate } from "../planning/recommend";
import type { Planning } from "../planning/usePlanning";
import { DispatchNotes } from "./DispatchNotes";
import { HighestRateAnswer } from "./HighestRateAnswer";
import { boughtByPlan, type SlackFigures, slackEffect, slackSentence } from "./prepareSlack";
import { tauSentence } from "./prepareTau";
import type { SettingsSteps } from "./useSettingsHistory";

/** Slider end of the latency budget: ten times the latency of the cascade, so that the useful part is not at the far left. */
function budgetEnd(estimate: PlanEstimate | null): number {
  const seconds = estimate === null || !Number.isFinite(estimate.latencySeconds) ? 30 : estimate.latencySeconds;
  return Math.min(BUDGET_BOUNDS.max, Math.max(10, Math.ceil(seconds) * 4));
}

/** Whether an objective is available: those under a latency budget start with one that can be met. */
function askFor(kind: PlanView["kind"], budgetSeconds: number): Partial<PlanView> {
  return kind === "latency-under-quality" ? { kind } : { kind, latencyBudgetSeconds: budgetSeconds };
}

const objectives: readonly (Option<PlanView["kind"]> & { readonly says: string })[] = [
  { value: "latency-under-quality", text: "Fastest", says: "Lowest latency above the quality floor" },
  { value: "quality-under-latency", text: "Best quality", says: "Highest quality within the latency budget" },
  { value: "cost-under-both", text: "Cheapest", says: "Lowest cost above the floor and within the budget" },
  { value: "highest-rate", text: "Highest rate", says: "Highest rate above the floor and within the budget" },
];

const policies: readonly Option<PolicyChoice>[] = [
  { value: "any", text: "Let Weir choose" },
  { value: "cascade", text: "Cascade" },
  { value: "cascade-routing", text: "Cascade routing" },
  { value: "slack", text: "Slack dispatch" },
  { value: "one-model", text: "One model" },
];

const gates: readonly Option<GateChoice>[] = [
  { value: "any", text: "Let Weir choose" },
  { value: "judge", text: "Judge" },
  { value: "confidence", text: "Confidence" },
  { value: "agreement", text: "Agreement" },
  { value: "scorer", text: "Scorer of lengths and probabilities" },
  { value: "sequence", text: "Confidence, then the judge" },
];

const NO_SLACK_FOR_RATE = "Without effect with this objective: the rate is raised up to the latency budget.";

/**
 * The recommended plan and the fastest one, by the value that the floor applies to: of the exact plan once it answers the knobs, until then
 * by the tables. null where no slack applies.
 */
function boughtBy({ recommendation, exact }: Pick<Planning, "recommendation" | "exact">, { qualityConfidence }: Knobs) {
  const exactly = exact.current && exact.plan !== null ? boughtByPlan(exact.plan) : null;
  if (exactly !== null) return exactly;
  if (recommendation === null || recommendation.best === null || recommendation.slack === null) return null;
  const figures = (own: PlanEstimate): SlackFigures => ({ ...own, quality: qualityConfidence === null ? own.quality : own.qualityLow });
  return { chosen: figures(recommendation.best.estimate), fastest: figures(recommendation.slack.fastest) };
}

/** The sliders, the kind of policy, the other settings, and their meaning. */
export function KnobPanel(props: {
  readonly view: PlanView;
  readonly knobs: Knobs;
  /** Of slack dispatch, while its thumb is held too; null: the planner chooses it. */
  readonly tau: number | null;
  readonly defaults: PlanDefaults;
  readonly cluster: ClusterSummary;
  readonly workloadId: string;
  /** Models of the workload. */
  readonly models: readonly string[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly planning: Planning;
  readonly steps: SettingsSteps;
  readonly onDraft: (draft: DraftKnobs) => void;
  readonly onChange: (change: Partial<PlanView>, how: "push" | "replace") => void;
}) {
  const { view, knobs, tau, defaults, planning, steps, onDraft, onChange } = props;
  const { estimate, recommendation, dispatch } = planning;
  const end = budgetEnd(estimate);
  const budget = knobs.latencyBudgetSeconds;
  const floor = knobs.qualityFloor ?? defaults.qualityFloor;
  // By the knobs that the recommendation is for: a held thumb may be ahead of it.
  const effect = planning.searchesRate
    ? ({ kind: "without-meaning" } as const)
    : slackEffect(planning.knobs, boughtBy(planning, planning.knobs));
  return (
    <Panel
      title="Settings"
      aside={
        <>
          <Button look="quiet" className="h-7! px-2!" disabled={steps.undo === null} title="Ctrl+Z" onClick={() => steps.undo?.()}>
            Undo
          </Button>
          <Button look="quiet" className="h-7! px-2!" disabled={steps.redo === null} title="Ctrl+Shift+Z" onClick={() => steps.redo?.()}>
            Redo
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-1.5">
          <div className="grid grid-cols-[5fr_6fr] gap-3">
            <SelectField
              label="Objective"
              value={view.kind}
              options={objectives}
              onChange={(kind) => onChange(askFor(kind, budget ?? Math.min(end, Math.ceil(estimate?.latencySeconds ?? end))), "push")}
            />
            <SelectField
              label="Policy"
              value={view.policy}
              options={policies}
              onChange={(policy) => onChange({ policy, fixed: null, ...(policy !== "slack" && { tau: null }) }, "push")}
            />
          </div>
          {(view.gateChoice !== "any" || planning.exact.plan?.solver.comparedGates !== undefined) && (
            <SelectField
              label="Gate of cascades"
              value={view.gateChoice}
              options={gates}
              onChange={(gateChoice) => onChange({ gateChoice, fixed: null }, "push")}
            />
          )}
          <p className="text-xs text-ink-3">{objectives.find(({ value }) => value === view.kind)?.says}.</p>
          <DispatchNotes policy={view.policy} dispatch={dispatch} workloadId={props.workloadId} />
        </div>
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
          label="Slack"
          unit="% p95"
          {...SLACK_BOUNDS}
          step={1}
          whole
          value={Math.round(100 * (knobs.slack ?? (view.slack ?? 0) / 100))}
          off={effect.kind === "off" && effect.objective === "cost-under-both"}
          disabled={effect.kind === "without-meaning"}
          note={
            <span data-testid="slack-effect" className={effect.kind === "buys" ? "font-medium text-ink" : ""}>
              {planning.searchesRate ? NO_SLACK_FOR_RATE : slackSentence(effect, planning.knobs.kind)}
            </span>
          }
          onDraft={(percent) => onDraft({ slack: percent / 100 })}
          onCommit={(slack) => onChange({ slack }, "replace")}
          onReset={view.slack === null ? null : () => onChange({ slack: null }, "replace")}
        />
        {view.policy === "slack" && (
          <Knob
            label="τ"
            unit=""
            {...TAU_BOUNDS}
            step={0.25}
            value={tau ?? recommendation?.dispatch?.tau ?? 1}
            off={tau === null}
            offText="chosen by the planner"
            note={
              <span data-testid="tau-effect">
                {tauSentence(tau, { dispatch: dispatch.exploration, point: recommendation?.dispatch ?? null })}
              </span>
            }
            onDraft={(value) => onDraft({ tau: value })}
            onCommit={(value) => onChange({ tau: value }, "replace")}
            onReset={view.tau === null ? null : () => onChange({ tau: null }, "replace")}
          />
        )}
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
        {planning.searchesRate && <HighestRateAnswer planning={planning} />}
        <ConstraintsSection view={view} cluster={props.cluster} models={props.models} identities={props.identities} onChange={onChange} />
        <details className="border-t pt-3">
          <summary className="text-sm font-medium text-ink-2">What the figures mean</summary>
          <div className="mt-3 flex flex-col gap-3">
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
