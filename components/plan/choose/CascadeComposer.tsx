"use client";

import { useRef, useState } from "react";
import { ModelName } from "@/components/ui/ModelChip";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Knob } from "../../ui/Knob";
import type { ModelIdentity } from "../../ui/modelIdentity";
import type { RoutingChoice } from "../address/routingKey";
import type { Planning } from "../planning/usePlanning";
import { modelProblem, type StageRules } from "./choiceProblem";
import { compareChoice, type HeldFigures, missesOf } from "./compareChoice";
import { toggleStage } from "./toggleStage";

/** Changes closer in time than this are one step of the back button. */
const ONE_STEP_MS = 1000;

type Choose = (routing: RoutingChoice | null, how: "push" | "replace") => void;

/** Writes quick successive changes of one cascade as one history entry. */
function useSteps(onChoose: Choose): (routing: RoutingChoice) => void {
  const last = useRef({ models: "", atMs: 0 });
  return (routing) => {
    const now = { models: routing.models.join(), atMs: Date.now() };
    const same = now.models === last.current.models && now.atMs - last.current.atMs < ONE_STEP_MS;
    last.current = now;
    onChoose(routing, same ? "replace" : "push");
  };
}

/** The losses and gains of a chosen cascade compared with the recommended one, and the button that restores that one. */
function Verdict(props: {
  readonly planning: Planning;
  readonly isRecommended: boolean;
  readonly problem: string | null;
  readonly held: HeldFigures | null;
  readonly onReturn: () => void;
}) {
  const { isRecommended } = props;
  const { estimate, recommendation, knobs } = props.planning;
  const recommended = recommendation?.best?.estimate ?? null;
  const misses = props.held === null ? [] : missesOf(props.held, knobs);
  const keepsUp = estimate !== null && estimate.latencySeconds < Number.POSITIVE_INFINITY;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <p role="status" className="min-w-0 flex-1 basis-80 text-sm text-ink-2" data-testid="choice-verdict">
        {recommended === null && "No recommendation: no plan meets floor and budget. "}
        {recommended !== null && isRecommended && "This is the recommended cascade. "}
        {recommended !== null && !isRecommended && keepsUp && (
          <>
            <span className="font-medium text-ink">{compareChoice(estimate, recommended)}</span> against the recommendation, by the tables.{" "}
          </>
        )}
        {estimate === null && props.problem === null && "The tables do not have these thresholds yet. "}
        {misses.length > 0 && <span className="text-warn">It {misses.join(" and ")}.</span>}
      </p>
      <Button onClick={props.onReturn}>Return to the recommendation</Button>
    </div>
  );
}

/**
 * The editor of the cascade: which models of the ladder are stages, and from which score each answer is accepted. Any change makes it the
 * operator's choice, in the address, until it is handed back to the planner.
 */
export function CascadeComposer(props: {
  readonly planning: Planning;
  /** The current cascade: chosen by hand, else recommended. */
  readonly shown: RoutingChoice;
  readonly chosen: boolean;
  /** Whether the chosen cascade is the recommended one. */
  readonly isRecommended: boolean;
  /** Why it cannot be planned; null where it can. */
  readonly problem: string | null;
  /** Every model of the workload, smallest first. */
  readonly models: readonly string[];
  readonly rules: StageRules;
  /** The figures that are compared with floor and budget; null while there are none. */
  readonly held: HeldFigures | null;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  /** Called while a thumb is held. */
  readonly onDraft: (routing: RoutingChoice) => void;
  readonly onChoose: Choose;
  /** Called when the pointer or focus approaches: the tables needed for a change are then prepared. */
  readonly onApproach: () => void;
}) {
  const { planning, shown, chosen, rules, onDraft, onChoose } = props;
  const { exploration, choice, knobs } = planning;
  const [refused, setRefused] = useState<string | null>(null);
  const step = useSteps(onChoose);

  function toggle(model: string) {
    if (exploration === null || choice === null) return;
    const problem = shown.models.includes(model) ? null : modelProblem(model, rules);
    const next = problem === null ? toggleStage(shown, model, { exploration, candidates: choice.candidates, knobs }) : null;
    setRefused(problem ?? (next === null ? "A cascade needs at least one model: add another before you remove this one." : null));
    if (next !== null) onChoose(next, "push");
  }
  const turned = (stage: number, value: number): RoutingChoice => ({
    ...shown,
    thresholds: shown.thresholds.map((each, at) => (at === stage ? value : each)),
  });

  return (
    <section aria-label="Cascade to plan" className="flex flex-col gap-3" onPointerEnter={props.onApproach} onFocus={props.onApproach}>
      <div className="flex flex-wrap items-center gap-2">
        <ul aria-label="Stages" className="flex list-none flex-wrap gap-2">
          {props.models.map((model) => {
            const stage = shown.models.includes(model);
            const problem = stage ? null : modelProblem(model, rules);
            return (
              <li key={model}>
                <Button
                  aria-pressed={stage}
                  aria-disabled={problem !== null}
                  title={problem ?? undefined}
                  className={stage ? "border-accent! bg-accent-soft!" : problem === null ? "text-ink-3" : "text-ink-3 opacity-60"}
                  onClick={() => toggle(model)}
                >
                  <span aria-hidden="true" className="w-3 text-accent">
                    {stage ? "✓" : "+"}
                  </span>
                  <ModelName model={model} identities={props.identities} />
                </Button>
              </li>
            );
          })}
        </ul>
        <Badge tone={chosen ? "accent" : "neutral"}>{chosen ? "your choice" : "recommended"}</Badge>
      </div>
      {refused !== null && (
        <p role="status" className="text-sm text-warn">
          {refused}
        </p>
      )}
      {shown.thresholds.length === 0 ? (
        <p className="text-sm text-ink-3">{shown.models[0]} answers every request alone: there is no threshold to set.</p>
      ) : (
        <div className="grid grid-cols-[repeat(auto-fill,minmax(min(22rem,100%),1fr))] gap-x-8 gap-y-3">
          {shown.thresholds.map((threshold, stage) => {
            const model = shown.models[stage] ?? "?";
            return (
              <Knob
                key={model}
                label={`Accept ${model} from`}
                unit="score"
                min={0}
                max={100}
                step={1}
                whole
                value={threshold}
                onDraft={(value) => onDraft(turned(stage, value))}
                onCommit={(value) => step(turned(stage, value))}
                onReset={null}
              />
            );
          })}
          {startKnobs(shown).map(({ label, value, at }) => (
            <Knob
              key={label}
              label={label}
              unit="score"
              min={1}
              max={100}
              step={1}
              whole
              value={value}
              onDraft={(score) => onDraft(at(score))}
              onCommit={(score) => step(at(score))}
              onReset={null}
            />
          ))}
        </div>
      )}
      {chosen && (
        <Verdict
          planning={planning}
          isRecommended={props.isRecommended}
          problem={props.problem}
          held={props.held}
          onReturn={() => onChoose(null, "push")}
        />
      )}
    </section>
  );
}

/** A knob for the router score to start at, or one for each stage where they differ. */
function startKnobs(shown: RoutingChoice) {
  const { models, startBelow } = shown;
  if (startBelow === undefined) return [];
  if (typeof startBelow === "number")
    return [
      {
        label: "Start where the router gives at least",
        value: startBelow,
        at: (score: number): RoutingChoice => ({ ...shown, startBelow: score }),
      },
    ];
  return startBelow.map((value, stage) => ({
    label: `Start at ${models[stage] ?? "?"} where the router gives at least`,
    value,
    at: (score: number): RoutingChoice => ({ ...shown, startBelow: startBelow.with(stage, score) }),
  }));
}
