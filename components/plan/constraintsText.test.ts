import { describe, expect, it } from "vitest";
import { planConstraintsSchema } from "@/solver/deployment/constraints";
import { noConstraints } from "./constraintsCodec";
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
    expect(saidOf("[1]")).toMatch(/^The document: /);
  });
});
