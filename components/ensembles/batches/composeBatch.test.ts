import { describe, expect, it } from "vitest";
import { batchRequestSchema } from "@/server/contracts/studio/batches";
import { composeBatch, usualCalls, usualWorkers } from "./composeBatch";

describe("a batch to be started", () => {
  const form = {
    ...{ name: " night ", promptSetId: "p", ensemble: "maths", workers: 2, gpusPerWorker: 1, maxModelsPerWorker: null },
    ...{ single: true, concurrency: 64, timeoutSeconds: 600, attempts: 3, assignments: null },
  };
  const of = { clusterId: "c", prompts: "quiz" };
  it("is asked for with the cluster and a name, its own or one of what it does", () => {
    expect(composeBatch(form, of)).toMatchObject({ request: { name: "night", clusterId: "c", replicas: "single", ensemble: "maths" } });
    expect(composeBatch(form, of)).not.toHaveProperty("request.assignmentsUploadId");
    expect(composeBatch({ ...form, assignments: { uploadId: "u", name: "who.csv", questions: 2 } }, of)).toHaveProperty(
      "request.assignmentsUploadId",
      "u",
    );
    expect(composeBatch({ ...form, name: " " }, of)).toMatchObject({ request: { name: "maths on quiz" } });
  });
  it("is asked for with the calls that the request itself defaults to", () => {
    const made = composeBatch({ ...form, ...usualCalls }, of);
    if (!("request" in made)) throw new Error(made.problem);
    const { concurrency, timeoutSeconds, attempts, ...rest } = made.request;
    expect(batchRequestSchema.parse(rest)).toEqual(made.request);
    expect(usualCalls).toEqual({ concurrency, timeoutSeconds, attempts });
  });
  it("begins with a worker for each expert, as far as they are free", () => {
    expect([usualWorkers(8, 3), usualWorkers(2, 3), usualWorkers(0, 3), usualWorkers(4, 0)]).toEqual([3, 2, 1, 1]);
  });
  it("says what is missing first", () => {
    expect(composeBatch({ ...form, promptSetId: "" }, of)).toEqual({ problem: expect.stringContaining("prompts") });
    expect(composeBatch({ ...form, ensemble: "" }, of)).toEqual({ problem: expect.stringContaining("ensemble") });
    expect(composeBatch({ ...form, workers: null }, of)).toEqual({ problem: expect.stringContaining("free") });
  });
});
