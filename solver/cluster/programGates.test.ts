import { describe, expect, it } from "vitest";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { ProgramGates } from "./programGates";
import { chain, programsOf, testModels } from "./testing/testPrograms";

const skip = { extraction: { kind: "choice" }, tau: 1 };
/** Two votes of two voters each, and a vote on these. */
const nested = workflowOfDocument(
  workflowDocumentSchema.parse({
    name: "nested",
    agents: [
      ...["a", "b", "c", "d"].map((name) => ({ name })),
      { name: "left", part: "votes", reads: ["a", "b"], skip },
      { name: "right", part: "votes", reads: ["c", "d"], skip },
      { name: "top", part: "votes", reads: ["left", "right"], skip },
    ],
  }),
);
const programs = (workflow: typeof nested, votes: readonly (string | null)[] | null) => ({
  ...programsOf({ workflows: [workflow], programs: 1, programsPerSecond: 1, seed: 1 }),
  ...(votes && { votes: testModels.map(() => votes) }),
});

describe("gates of simulated programs", () => {
  it("compare a skipped stage by the answer that it gives, through any number of them", () => {
    const gates = new ProgramGates(programs(nested, ["A", "A", "A", "A", null, null, null]));
    const model = [0, 1, 1, 0, -1, -1, -1];
    expect([4, 5, 6].map((request) => gates.decide(request, model))).toEqual([0, 2, 0]);
    expect([3, 4, 5, 6].map((request) => gates.givenBy(request))).toEqual([undefined, 0, 2, 0]);
    expect(gates.decided.map(({ decision }) => decision.kind)).toEqual(["skip-node", "skip-node", "skip-node"]);
  });

  it("send a stage whose inputs differ or have no vote, and every stage that has no gate", () => {
    const gates = new ProgramGates(programs(nested, ["A", "B", null, null, null, null, null]));
    expect([0, 4, 5].map((request) => gates.decide(request, [0, 0, 0, 0, -1, -1, -1]))).toEqual([null, null, null]);
    expect(gates.decided.map(({ decision }) => decision.votes)).toEqual(["1:1", "0"]);
  });

  it("need votes only where a stage may be skipped", () => {
    expect(() => new ProgramGates(programs(nested, null))).toThrow("nested may skip a stage where answers agree");
    expect(() => new ProgramGates(programs(chain, null))).not.toThrow();
  });
});
