import { expect, it } from "vitest";
import type { LabSystem } from "@/server/contracts/studio";
import { labSystemSchema } from "@/solver/lab/labSpec";
import { capacityPrice } from "@/solver/lab/suggestedSystems";
import { systemRefusal } from "@/solver/lab/systemRefusal";
import {
  areStale,
  cascadeAmong,
  composeSystem,
  fitRace,
  fitSystems,
  isSameSystem,
  lackingModels,
  newForm,
  orders,
  ownSystems,
  places,
  repeatRefusal,
  routed,
} from "./composeSystem";
import { planSystem } from "./planSystem";
import { systemText } from "./prepareSystems";
import { choosingSystem, fixedSystem, slackSystem, testSpec } from "./testRun";

const suggestion = {
  spec: testSpec,
  systems: [
    { ...slackSystem(0.5), about: "" },
    {
      name: "balanced",
      policy: {
        kind: "balanced" as const,
        models: [{ model: "small", maxBatchSize: 8 }],
        order: { kind: "fcfs" as const },
        place: { kind: "least-load" as const },
      },
      lengths: "none" as const,
      confidence: "none" as const,
      about: "",
    },
  ],
};

it("makes a sound system of every combination, or says why not", () => {
  for (const route of ["slack", "balanced", "small", "gone"])
    for (const order of orders)
      for (const place of places)
        for (const lengths of ["none", "input", "oracle", "learnt", "a".repeat(64)])
          for (const confidence of ["none", "learnt"])
            for (const affinity of [false, true]) {
              const made = composeSystem({ ...newForm, route, order, place, lengths, confidence, affinity }, suggestion);
              if ("refused" in made) throw new Error(made.refused);
              expect(labSystemSchema.safeParse(made).success).toBe(true);
              const refusal = systemRefusal(made, testSpec.replicas);
              if (route === "gone") expect(refusal).toMatch(/No engine of the race serves gone/);
              if (affinity && place !== "least-load" && place !== "lowest-kv") expect(refusal).not.toBeNull();
            }
});

it("gives busy models a price where that is asked for, and takes such a system for another", () => {
  const made = [false, true].map((priced) => composeSystem({ ...newForm, priced }, suggestion));
  const [without, priced] = made.map((system) => ("refused" in system ? null : system));
  if (!without || !priced || priced.policy.kind !== "slack") throw new Error("two slack systems are expected");
  expect(priced.policy.price).toEqual(capacityPrice);
  expect(without.policy).not.toHaveProperty("price");
  expect(isSameSystem(without, priced)).toBe(false);
});

it("refuses a system without a name, and a slack between one model", () => {
  expect(composeSystem({ ...newForm, name: " " }, suggestion)).toHaveProperty("refused");
  expect(composeSystem(newForm, { ...suggestion, systems: suggestion.systems.slice(1) })).toHaveProperty("refused");
});

it("takes a system for the same whatever engines it was made for, and fits it to those of now", () => {
  const slack = slackSystem(0.5);
  if (slack.policy.kind !== "slack") throw new Error("a slack system is expected");
  const elsewhere = { ...slack, policy: { ...slack.policy, models: slack.policy.models.slice(0, 1), floorSeconds: 9 } };
  const aged = { ...slack, policy: { ...slack.policy, order: { kind: "stjf" as const, agingThreshold: 7 } } };
  expect(isSameSystem(slack, elsewhere)).toBe(true);
  expect(isSameSystem(slack, slackSystem(1))).toBe(false);
  for (const other of [elsewhere, aged]) {
    expect(areStale([other], suggestion)).toBe(true);
    expect(fitSystems([other, fixedSystem], suggestion)).toEqual([slack, fixedSystem]);
  }
  expect(areStale([slack, fixedSystem], suggestion)).toBe(false);
});

it("races a saved plan of one stage as its model, and one of several as its cascade, on its own engines", () => {
  const stages = [{ model: "small" }];
  const queueing = { order: { kind: "fcfs" as const }, place: { kind: "least-load" as const } };
  const cascade = {
    ...{ kind: "cascade" as const, stages, thresholds: [], approvedRanges: { thresholds: [] }, ...queueing },
    judge: { model: "judge", secondsPerCall: 1, usdPerCall: 0 },
  };
  const group = { tp: 2, pp: 1, count: 3, shareEach: 1 / 3, placements: [] };
  const deployment = [{ model: "small", precision: "bf16" as const, gpu: "h100-sxm", gpus: 6, replicas: [group] }];
  const made = planSystem({ id: "0123456789", deployment, policy: cascade });
  expect(made).toMatchObject({ name: "plan 01234567", policy: { kind: "fixed", model: "small" } });
  expect(made.replicas).toEqual([{ model: "small", precision: "bf16", gpu: "h100-sxm", tp: 2, pp: 1, count: 3 }]);
  expect(systemRefusal(made, [])).toBeNull();
  const two = {
    ...{ ...cascade, stages: [...stages, { model: "large" }], thresholds: [50] },
    approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
  };
  const both = [...deployment, ...deployment.map((own) => ({ ...own, model: "large" }))];
  const raced = planSystem({ id: "0123456789", deployment: both, policy: two });
  expect(raced).toMatchObject({ policy: { kind: "cascade", thresholds: [50] } });
  expect(systemRefusal(raced, [])).toBeNull();
  const gates = [{ kind: "confidence" as const, measure: "least" as const }];
  const gated = planSystem({ id: "0123456789", deployment: both, policy: { ...two, gates } as never });
  expect(systemRefusal(gated, [])).toMatch(/the scores of a judge alone/);
});

it("races a saved plan of a trained router that judges nothing, by its own predictor and not without one", () => {
  const predictor = "ab".repeat(32);
  const policy = {
    ...{ kind: "cascade" as const, stages: [{ model: "small" }, { model: "large" }], thresholds: [0] },
    ...{ order: { kind: "fcfs" as const }, place: { kind: "least-load" as const }, approvedRanges: { thresholds: [{ min: 0, max: 0 }] } },
    judge: { model: "judge", secondsPerCall: 1, usdPerCall: 0 },
    directStart: { below: 60, router: { kind: "trained" as const, predictor } },
  };
  const group = { tp: 2, pp: 1, count: 3, shareEach: 1 / 3, placements: [] };
  const engines = (model: string) => ({ model, precision: "bf16" as const, gpu: "h100-sxm", gpus: 6, replicas: [group] });
  const made = planSystem({ id: "0123456789", deployment: [engines("small"), engines("large")], policy });
  expect(made).toMatchObject({ policy: { kind: "cascade" }, confidence: { artefact: predictor } });
  expect(systemRefusal(made, [])).toBeNull();
  expect(systemRefusal({ ...made, confidence: "none" }, [])).toMatch(/^A direct start reads a router's confidence/);
});

it("does not add a system that is in the race already, under whatever name, and shows one that is listed twice", () => {
  const made = composeSystem({ ...newForm, name: "Chimera" }, suggestion);
  if ("refused" in made) throw new Error(made.refused);
  const race = [fixedSystem, slackSystem(0), slackSystem(0.5)];
  expect(repeatRefusal(made, race)).toBe("This system is in the race already, as Chimera, τ 0.5.");
  expect(repeatRefusal({ ...made, name: "mine" }, race)).toMatch(/in the race already, as Chimera/);
  expect(repeatRefusal(made, race.slice(0, 2))).toBeNull();
  expect(repeatRefusal({ ...made, replicas: testSpec.replicas.slice(0, 1) }, race)).toBeNull();
  expect(ownSystems(race, suggestion.systems)).toEqual([fixedSystem, slackSystem(0)]);
  expect(ownSystems([...race, made], suggestion.systems)).toEqual([fixedSystem, slackSystem(0), made]);
});

it("fits a race to fewer engines: systems that choose go on without the model, those that send all to it are left out", () => {
  const [, large] = testSpec.replicas;
  const left = large === undefined ? [] : [large];
  const alone: LabSystem = { ...fixedSystem, name: "all to large", policy: { ...fixedSystem.policy, kind: "fixed", model: "large" } };
  const balanced = suggestion.systems[1];
  if (balanced?.policy.kind !== "balanced") throw new Error("a balanced system is expected");
  const fits = { ...balanced, policy: { ...balanced.policy, models: [{ model: "large", maxBatchSize: 4 }] } };
  const { about: _, ...bare } = fits;
  const now = { systems: [fits] };
  const race = [slackSystem(0.5), bare, fixedSystem, alone];
  expect(lackingModels(race, left)).toEqual(["small"]);
  expect(lackingModels([alone], left)).toEqual([]);
  expect(fitRace(race, now, left)).toEqual([bare, alone]);
  expect(fitRace([{ ...bare, policy: { ...bare.policy, models: [{ model: "small", maxBatchSize: 8 }] } }], now, left)).toEqual([bare]);
  expect(fitRace([fixedSystem], now, left)).toEqual([bare]);
});

it("composes a choice of models just in time where one is suggested, and says why not where none is", () => {
  const choosing = { ...suggestion, systems: [...suggestion.systems, { ...choosingSystem(4), about: "" }] };
  const form = { ...routed(newForm, "just-in-time"), beamWidth: 8 };
  const made = composeSystem(form, choosing);
  if ("refused" in made) throw new Error(made.refused);
  expect(made).toEqual({ ...choosingSystem(8), name: newForm.name });
  expect(labSystemSchema.parse(made)).toEqual(made);
  expect(systemRefusal(made, testSpec.replicas)).toBeNull();
  expect(composeSystem(form, suggestion)).toEqual({ refused: expect.stringMatching(/the mix has none of them\.$/) });
  // A route that chooses before dispatch reads no configurations.
  expect(composeSystem(routed(form, "small"), choosing)).toMatchObject({ policy: { kind: "fixed" } });
  expect(routed(form, "small").configurations).toBe("none");
});

it("composes rounds by worth with a cascade for single requests where a system has one, and not where none has", () => {
  const choosing = { ...suggestion, systems: [...suggestion.systems, { ...choosingSystem(4), about: "" }] };
  const form = routed(newForm, "joint");
  expect(cascadeAmong(choosing.systems)).toBeNull();
  expect(composeSystem(form, choosing)).toEqual({ refused: expect.stringMatching(/^No system here has a cascade/) });
  const queueing = { order: { kind: "fcfs" as const }, place: { kind: "least-load" as const } };
  const singles = {
    ...{ kind: "cascade" as const, stages: [{ model: "small" }, { model: "large" }], thresholds: [60] },
    judge: { model: "judge", secondsPerCall: 1, usdPerCall: 0 },
    approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
  };
  const planned: LabSystem = { name: "plan", policy: { ...singles, ...queueing }, lengths: "none", confidence: "none" };
  const made = composeSystem(form, choosing, cascadeAmong([...choosing.systems, planned]));
  if ("refused" in made) throw new Error(made.refused);
  expect(made).toMatchObject({ policy: { selection: { kind: "worth" }, singles }, configurations: "learnt" });
  expect(labSystemSchema.parse(made)).toEqual(made);
  expect(systemRefusal(made, testSpec.replicas)).toBeNull();
  expect(systemText(made)).toMatch(/^models chosen just in time, by worth, single requests: cascade small → large · /);
  const { policy } = made;
  if (policy.kind !== "just-in-time") throw new Error("It does not choose just in time");
  const { singles: _, ...without } = policy;
  expect(isSameSystem(made, { ...made, policy: without })).toBe(false);
});

it("gives systems that choose just in time the curves and workflows that are suggested, but for what they say of a workflow", () => {
  const suggested = choosingSystem(4);
  if (suggested.policy.kind !== "just-in-time") throw new Error("It does not choose just in time");
  const { policy } = suggested;
  const [own] = policy.workflows;
  if (own === undefined) throw new Error("It declares no workflow");
  const predictor = "a".repeat(64);
  const stale = {
    ...policy,
    models: policy.models.toReversed(),
    workflows: [{ ...own, predictor }, { workflow: { ...own.workflow, name: "gone" } }],
  };
  const [fitted] = fitSystems([{ ...suggested, policy: stale }], { systems: [{ ...suggested, about: "" }] });
  expect(fitted?.policy).toEqual({ ...policy, workflows: [{ ...own, predictor }] });
  expect(isSameSystem(choosingSystem(1), choosingSystem(2))).toBe(false);
  expect(isSameSystem(suggested, { ...suggested, policy: stale })).toBe(true);
  expect(isSameSystem(suggested, { ...suggested, configurations: "oracle" })).toBe(false);
});

it("takes a plan that chooses just in time as one that reads the predictors it names", () => {
  const { policy } = choosingSystem(4);
  if (policy.kind !== "just-in-time") throw new Error("It does not choose just in time");
  const named = { ...policy, workflows: policy.workflows.map((each) => ({ ...each, predictor: "a".repeat(64) })) };
  expect(planSystem({ id: "f".repeat(64), deployment: [], policy: named }).configurations).toBe("named");
  expect(planSystem({ id: "f".repeat(64), deployment: [], policy }).configurations).toBeUndefined();
});
