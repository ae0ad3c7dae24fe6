"use client";

import { useMemo, useState } from "react";
import { type Inputs, useTRPCClient } from "@/components/api/trpc";
import { useJob } from "@/components/api/useJob";
import type { PlottedBaseline } from "@/components/charts/prepareFrontier";
import type { BaselineFigures, ExamineEvent, RefusedBaseline } from "@/server/contracts/studio";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { Doing } from "../planning/JobProgress";
import type { ExactPlan } from "../planning/usePlanning";

/** A baseline with its number, shared by chart, legend and table. */
export interface NamedBaseline extends PlottedBaseline {
  readonly name: string;
  readonly cascade: string;
  /** false for an oracle and for a modelled router. */
  readonly attainable: boolean;
  /** The cascade that routes its requests; null for a modelled router, which no plan can have. */
  readonly routing: BaselineFigures["routing"];
  /** Set where another kind of policy than thresholds plans it. */
  readonly policy?: BaselineFigures["policy"];
  readonly deployed: BaselineFigures["deployed"];
  /** Mean over the sample; `figures` holds the bound where the floor applies to it. */
  readonly quality: number;
}

export interface Baselines {
  readonly systems: readonly NamedBaseline[];
  readonly refused: readonly RefusedBaseline[];
  readonly error: { readonly message: string } | null;
  /** Whether they belong to the current inputs. */
  readonly current: boolean;
  /** The planning job; `ask` plans them for the current inputs. */
  readonly job: Doing;
}

const NONE: readonly never[] = [];

/** Numbered in the order of arrival. */
function nameBaselines(systems: readonly BaselineFigures[], { qualityConfidence }: Pick<Knobs, "qualityConfidence">) {
  return systems.map(
    (
      { name, attainable, cascade, routing, policy, deployed, quality, qualityLow, latencySeconds, costUsdPerRequest, gpus },
      index,
    ): NamedBaseline => ({
      key: `baseline ${index + 1}`,
      number: index + 1,
      name,
      attainable,
      cascade,
      routing,
      policy,
      deployed,
      quality,
      figures: {
        quality: qualityConfidence === null ? quality : qualityLow,
        latency: latencySeconds ?? Number.POSITIVE_INFINITY,
        cost: costUsdPerRequest,
        gpus,
      },
    }),
  );
}

/**
 * The baselines for the same inputs, planned once they are `shown` and the knobs rest. They take seconds of the planner, so
 * a changed knob does not plan them again: the old ones stay, marked as old, until the operator requests new ones.
 */
export function useBaselines({ question, rests }: Pick<ExactPlan, "question" | "rests">, shown: boolean): Baselines {
  const client = useTRPCClient();
  // null until they are shown, and while a new request waits for the knobs to rest.
  const [about, setAbout] = useState<Inputs["plans"]["solve"] | null>(null);
  if (shown && about === null && rests) setAbout(question);
  if (!shown && about !== null) setAbout(null);
  const asked = about ?? question;
  const request = useMemo(() => ({ ...asked, examine: "baselines" as const }), [asked]);
  const own = useJob<typeof request, Exclude<ExamineEvent, { kind: "progress" }>>({
    name: "baselines",
    question: request,
    enabled: shown && about !== null,
    subscribe: (input, listener) => client.plans.examine.subscribe(input, listener),
  });
  const { answer, error, working, progress, cancelled, cancel, ask } = own;
  const found = shown && answer?.kind === "answer" && answer.examination.kind === "baselines" ? answer.examination : null;
  const same = rests && JSON.stringify(asked) === JSON.stringify(question);
  const current = own.current && same;
  return useMemo(
    () => ({
      systems: found === null ? NONE : nameBaselines(found.systems, asked.objective),
      refused: found === null ? NONE : found.refused,
      error: answer?.kind === "refused" ? answer : error,
      current,
      job: { working, progress, cancelled, cancel, ask: same ? ask : () => setAbout(null) },
    }),
    [found, answer, error, current, same, asked, working, progress, cancelled, cancel, ask],
  );
}
