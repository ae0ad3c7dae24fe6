import { describe, expect, it } from "vitest";
import { batchRequestSchema } from "@/server/contracts/batches";
import { composeBatch, usualCalls } from "./composeBatch";

describe("a batch to be started", () => {
  const form = {
    ...{ name: " night ", promptSetId: "p", ensemble: "maths", workers: 2, gpusPerWorker: 1, maxModelsPerWorker: null },
    ...{ single: true, concurrency: 64, timeoutSeconds: 600, attempts: 3, assignments: null },
  };
  it("is asked for with the cluster and a name, its own or the ensemble's", () => {
    expect(composeBatch(form, "c")).toMatchObject({ request: { name: "night", clusterId: "c", replicas: "single", ensemble: "maths" } });
    expect(composeBatch(form, "c")).not.toHaveProperty("request.assignmentsUploadId");
    expect(composeBatch({ ...form, assignments: { uploadId: "u", name: "who.csv", questions: 2 } }, "c")).toHaveProperty(
      "request.assignmentsUploadId",
      "u",
    );
    expect(composeBatch({ ...form, name: " " }, "c")).toMatchObject({ request: { name: "maths" } });
  });
  it("is asked for with the calls that the request itself defaults to", () => {
    const made = composeBatch({ ...form, ...usualCalls }, "c");
    if (!("request" in made)) throw new Error(made.problem);
    const { concurrency, timeoutSeconds, attempts, ...rest } = made.request;
    expect(batchRequestSchema.parse(rest)).toEqual(made.request);
    expect(usualCalls).toEqual({ concurrency, timeoutSeconds, attempts });
  });
  it("says what is missing first", () => {
    expect(composeBatch({ ...form, promptSetId: "" }, "c")).toEqual({ problem: expect.stringContaining("prompts") });
    expect(composeBatch({ ...form, ensemble: "" }, "c")).toEqual({ problem: expect.stringContaining("ensemble") });
  });
});
