import { describe, expect, it } from "vitest";
import { trainRequestSchema } from "@/server/contracts/gateway/artefacts";
import { composeTraining, type TrainingForm } from "./composeTraining";

const form: TrainingForm = {
  ...{ what: "configurations", workload: "w", clusterId: null, workflows: [], declared: "voting", models: ["small", "large"] },
  ...{ correlation: 0.5, misleads: 0.4, encoderFolder: "", outcomesOf: "workload", uploadId: null },
};

describe("the training that a form asks for", () => {
  it("is of a declared workflow over models, smallest first", () => {
    const request = composeTraining(form);
    expect(trainRequestSchema.parse(request)).toEqual({
      ...{ train: "configurations", workloadId: "w", workflow: "voting", models: ["small", "large"], correlation: 0.5, misleads: 0.4 },
    });
    expect(composeTraining({ ...form, encoderFolder: "/encoders/tiny" })).toEqual({ ...request, encoderFolder: "/encoders/tiny" });
  });

  it("is of the executed runs of a file once one was sent, and needs no workload", () => {
    const uploadId = "0b0d1a3e-4b3c-4b0e-9a3e-0a8b6a1b2c3d";
    const ofRuns: TrainingForm = { ...form, workload: null, outcomesOf: "runs", uploadId };
    const request = composeTraining(ofRuns);
    expect(trainRequestSchema.parse(request)).toEqual({ train: "executed", uploadId, workflow: "voting", models: ["small", "large"] });
    expect(composeTraining({ ...ofRuns, encoderFolder: "/encoders/tiny" })).toEqual({ ...request, encoderFolder: "/encoders/tiny" });
    for (const change of [{ uploadId: null }, { declared: null }, { models: ["large"] }])
      expect(composeTraining({ ...ofRuns, ...change })).toBeNull();
    expect(composeTraining({ ...ofRuns, workload: "w", what: "confidence" })).toEqual({ train: "confidence", workloadId: "w" });
  });

  it("waits for a workflow, a second model and a workload", () => {
    expect(composeTraining({ ...form, declared: null })).toBeNull();
    expect(composeTraining({ ...form, models: ["large"] })).toBeNull();
    expect(composeTraining({ ...form, workload: null })).toBeNull();
  });

  it("takes of the other kinds what each needs", () => {
    expect(composeTraining({ ...form, what: "traffic" })).toBeNull();
    expect(composeTraining({ ...form, what: "traffic", clusterId: "attic" })).toEqual({ train: "traffic", clusterId: "attic" });
    expect(composeTraining({ ...form, what: "confidence" })).toEqual({ train: "confidence", workloadId: "w" });
    expect(composeTraining({ ...form, what: "lengths" })).toBeNull();
    expect(composeTraining({ ...form, what: "lengths", workflows: ["coder"] })).toEqual({
      ...{ train: "lengths", workloadId: "w", workflows: ["coder"], correlation: 0.5 },
    });
  });
});
