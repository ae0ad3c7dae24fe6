import { describe, expect, it } from "vitest";
import { constraintLimits } from "@/solver/plan/constraintLimits";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { formatConstraints, noConstraints, parseConstraints } from "../address/constraintsCodec";
import { constraintsFromText, constraintsToText } from "./constraintsText";

const asked = planConstraintsSchema.parse({
  pinned: [{ model: "large", replicas: 2 }],
  nodes: [{ model: "large", only: ["n1", "yes"] }],
  maxUsdPerHour: 90.5,
  idleGpus: false,
});
const saidOf = (text: string): string => {
  const read = constraintsFromText(text);
  if (read.ok) throw new Error("a sentence was expected");
  return read.message;
};

describe("constraints as text", () => {
  it("come back as they were", () => {
    expect(constraintsFromText(constraintsToText(asked))).toEqual({ ok: true, constraints: asked });
    expect(constraintsFromText(constraintsToText(noConstraints))).toEqual({ ok: true, constraints: noConstraints });
  });

  it("hold only what is asked", () => {
    expect(constraintsToText({ ...noConstraints, excluded: ["small"], surviveNodeLoss: true })).toBe(
      "excluded:\n  - small\nsurviveNodeLoss: true\n",
    );
    expect(constraintsToText(noConstraints)).toBe("");
  });

  it("are refused in one sentence that names the line or the field", () => {
    expect(saidOf("excluded: [small\nmaxGpus: 3")).toMatch(/^Line \d is not YAML: /);
    expect(saidOf("maxGpus: -1")).toMatch(/^maxGpus: .*\.$/);
    expect(saidOf("pinned: [{model: large, count: 2}]")).toBe("pinned.0.count: there is no such field.");
    expect(saidOf("[1]")).toBe("The document: must have named fields.");
  });

  it("are refused in plain words, whatever is wrong with a value", () => {
    expect([
      saidOf("maxGpus: many"),
      saidOf("maxGpus: 1.5"),
      saidOf("maxGpus: 0"),
      saidOf("maxUsdPerHour: -1"),
      saidOf("maxGpus: 99999999999"),
      saidOf("pinned: [{model: large, replicas: 2000000}]"),
      saidOf("pinned: [{replicas: 2}]"),
      saidOf("pinned: large"),
      saidOf("excluded: [1]"),
      saidOf('excluded: [""]'),
      saidOf("surviveNodeLoss: 1"),
    ]).toEqual([
      "maxGpus: must be a number.",
      "maxGpus: must be a whole number.",
      "maxGpus: must be more than 0.",
      "maxUsdPerHour: must be 0 or more.",
      "maxGpus: must be 100,000 or less.",
      "pinned.0.replicas: must be 100,000 or less.",
      "pinned.0.model: is missing.",
      "pinned: must be a list.",
      "excluded.0: must be a name.",
      "excluded.0: must be a name: letters, digits and . _ - / : @ +, a letter or a digit first, 255 characters at most.",
      "surviveNodeLoss: must be true or false.",
    ]);
  });

  it("are refused where they name a model or rule twice", () => {
    expect(saidOf("excluded: [a, b, a]")).toBe("excluded: a is named twice.");
    expect(saidOf("pinned: [{model: a}, {model: a, replicas: 2}]")).toBe("pinned: a is named twice.");
    expect(saidOf("nodes: [{model: a, only: [n]}, {model: a, only: [n]}]")).toBe("nodes: the same is said of a twice.");
    expect(constraintsFromText("nodes: [{model: a, only: [n]}, {model: a, never: [m]}]").ok).toBe(true);
  });

  it("that are taken are all in the address: nothing is lost on the way there and back", () => {
    const { replicas, parallel, gpus, usdPerHour } = constraintLimits;
    const most = constraintsFromText(
      `pinned: [{model: a, replicas: ${replicas}}]\nshapes: [{model: a, tp: ${parallel}}]\nmaxGpus: ${gpus}\nmaxUsdPerHour: ${usdPerHour}\nmaxChangedReplicas: ${replicas}\nminReplicasPerModel: ${replicas}`,
    );
    expect(most.ok && parseConstraints(formatConstraints(most.constraints))).toEqual(most.ok && most.constraints);
    expect(most.ok).toBe(true);
  });
});
