import type { ComponentProps } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { choose } from "@/solver/cascade/choose/choose";
import { identifyModels } from "../../ui/modelIdentity";
import { noConstraints } from "../address/constraintsCodec";
import { findRouting } from "../planning/findRouting";
import { around, searched, testKnobs } from "../testing/testTables";
import { CascadeComposer } from "./CascadeComposer";
import { choiceProblem, stageRules } from "./choiceProblem";

const models = ["small", "middle", "large", "huge"];
const view = { constraints: noConstraints, judge: null, judgeSeconds: null, router: null };
const rules = stageRules(searched, { kind: "endpoints", name: "Cellar" }, view);
const choice = choose(searched, testKnobs);

function drawn(own: { readonly models: readonly string[]; readonly thresholds: readonly number[] } | null): string {
  const recommended = { models: ["small", "middle"], thresholds: [70] };
  const shown = own ?? recommended;
  const found = findRouting(shown, { exploration: searched, candidates: choice.candidates, lines: around }, testKnobs);
  const recommendation = { best: { kind: "cascade", estimate: choice.chosen } };
  const planning = { exploration: searched, choice, recommendation, knobs: testKnobs, estimate: found?.candidate ?? null };
  const held = found === null ? null : { quality: found.candidate.qualityLow, latencySeconds: found.candidate.latencySeconds };
  const props = {
    planning,
    shown,
    chosen: own !== null,
    isRecommended: false,
    problem: choiceProblem(shown, found, testKnobs, rules),
    models,
    rules,
    held,
    identities: identifyModels(models),
    onDraft: () => undefined,
    onChoose: () => undefined,
    onApproach: () => undefined,
  };
  return renderToStaticMarkup(<CascadeComposer {...(props as unknown as ComponentProps<typeof CascadeComposer>)} />);
}
const pressed = (html: string) => [...html.matchAll(/aria-pressed="(true|false)"/g)].map(([, value]) => value);

describe("CascadeComposer", () => {
  it("shows the recommended cascade as pressed stages with a slider and a number for each threshold", () => {
    const html = drawn(null);
    expect(pressed(html)).toEqual(["true", "true", "false", "false"]);
    expect(html).toContain('aria-label="Accept small from"');
    expect(html).toContain("recommended");
    expect(html).not.toContain("Return to the recommendation");
  });

  it("says of a model without an engine why it can be no stage", () => {
    expect(drawn(null)).toContain("No engine of huge is attached to Cellar");
  });

  it("says beside a worse choice by how much, what it misses, and offers the way back", () => {
    const html = drawn({ models: ["small", "middle"], thresholds: [40] });
    expect(html).toContain("your choice");
    expect(html).toContain("4.0 points lower");
    expect(html).toContain("misses the floor of 75.0 by 1.0 points");
    expect(html).toContain("Return to the recommendation");
  });

  it("says that the tables do not have a cascade yet", () => {
    expect(drawn({ models: ["middle", "large"], thresholds: [33] })).toContain("The tables do not have these thresholds yet.");
  });
});
