import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importAndApprove } from "@/server/api/testing/importAndApprove";
import { planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import type { Outcome } from "@/server/contracts/studio";
import type { BatchRequest } from "@/server/contracts/studio/batches";
import type { PlaceRequest } from "@/server/contracts/studio/ensembles";
import { embeddedClusterId } from "@/server/fleet/fleet";
import { studioSettings } from "@/server/lib/studioSettings";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { createRuntime, type Runtime } from "@/server/runtime";
import { AGGREGATE_ALL, type Ensemble, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { surveyUpload } from "../surveyUpload";

const nowhere = "http://127.0.0.1:9";
const never = new AbortController().signal;
const experts = ["qwen2.5-3b", "qwen2.5-7b"];

const ensemble = (change: Partial<Ensemble> = {}): Ensemble =>
  ensembleSchema.parse({
    ...{ name: "vote", experts, expertsPerQuestion: 2, aggregator: { model: "qwen2.5-7b" } },
    ...{ extraction: { kind: "choice" }, confidence: { kind: "plurality" }, tau: 1, quorum: 2, deadlineSeconds: 60 },
    ...change,
  });

const said = async (outcome: Promise<object> | object): Promise<string> => {
  const told = (await outcome) as { ok: boolean; message?: string };
  if (told.ok) throw new Error("It was not refused.");
  return told.message ?? "";
};

function done<Done extends object>(outcome: Outcome<Done>): Done {
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome;
}

describe("ensembles in a studio of its own", () => {
  let folder = "";
  let runtime: Runtime;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-ensembles-"));
    runtime = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  const services = () => runtime.services.ensembles;
  const audited = (action: string) => runtime.services.audit.list(100).filter((line) => line.action === action);
  const upload = async (name: string, text: string): Promise<string> =>
    done(await runtime.uploads.save(Readable.from([Buffer.from(text)]), name)).id;
  const placing = (change: Partial<PlaceRequest> = {}): PlaceRequest => ({
    ...{ ensemble: ensemble(), gpu: "l40s", workers: 2, gpusPerWorker: 1, maxModelsPerWorker: 2, replicas: "amortised", questions: 1000 },
    ...{ lengths: { kind: "workload", workloadId: runtime.services.workloads.list()[0]?.id ?? "" }, storage: "local-nvme" },
    ...change,
  });

  it("begin with one to look at, marked as an example, whose gate can be replayed at once on a modelled sample", async () => {
    const [example, ...others] = services().list();
    expect([example?.ensemble.name, example?.actor, others]).toEqual(["example", "weir", []]);
    const [sample] = services().samples();
    expect(sample).toMatchObject({ origin: "modelled", questions: 3000, name: expect.stringContaining("xample") });
    const { report } = done(
      await services().replay(
        {
          ...{ sampleId: sample?.id ?? "", experts: example?.ensemble.experts ?? [], expertsPerQuestion: 2, aggregator: "qwen2.5-32b" },
          ...{ confidence: "plurality", allowedPoints: 1 },
        },
        never,
      ),
    );
    expect(report.points.length).toBeGreaterThan(1);
    expect(report.notes.join(" ")).toContain("modelled");
    expect(
      await said(
        services().replay(
          {
            sampleId: "none",
            experts,
            expertsPerQuestion: 2,
            aggregator: null,
            confidence: "plurality",
            allowedPoints: 1,
          },
          never,
        ),
      ),
    ).toBe("There is no such sample of answers.");
  });

  it("are kept as versions of their name, say what their gate cannot read, and stay away once they are removed", async () => {
    expect(services().keep({ ensemble: ensemble(), expects: null }, "ada")).toEqual({ ok: true, name: "vote", version: 1, again: false });
    expect(services().keep({ ensemble: ensemble(), expects: null }, "ada")).toEqual({ ok: true, name: "vote", version: 1, again: true });
    expect(services().keep({ ensemble: ensemble({ tau: 0.5 }), expects: 1 }, "bob")).toEqual({
      ok: true,
      name: "vote",
      version: 2,
      again: false,
    });
    expect(
      await said(services().keep({ ensemble: ensemble({ extraction: { kind: "pattern", pattern: "(?=x)" } }), expects: 2 }, "ada")),
    ).toMatch(/\.$/);
    expect(
      services()
        .list()
        .map(({ ensemble: { name }, version }) => [name, version]),
    ).toEqual([
      ["example", 1],
      ["vote", 2],
    ]);
    expect(services().remove("vote", "ada")).toEqual({ ok: true });
    expect(await said(services().remove("vote", "ada"))).toBe("There is no ensemble vote.");
    expect(audited("keep ensemble").map(({ actor }) => actor)).toEqual(["bob", "ada"]);
    expect(audited("remove ensemble")).toHaveLength(1);
  });

  it("have samples of uploaded answers, told of as they are, until somebody removes them", async () => {
    const rows = ["p1", "p2", "p3"].flatMap((id, at) => [
      `${id},small,${at === 0 ? 1 : 0},A,10`,
      `${id},large,1,${at === 2 ? "B" : "A"},30`,
    ]);
    const uploadId = await upload("answers.csv", ["prompt_id,model,correct,answer,out_tok", ...rows].join("\n"));
    const { survey } = done(await services().survey(uploadId));
    expect(survey.models.map(({ model }) => model).sort()).toEqual(["large", "small"]);
    const { id } = done(
      await services().keepSample({ name: "three", source: { kind: "upload", uploadId, models: ["small", "large"] } }, "ada"),
    );
    expect(services().samples()[0]).toMatchObject({
      ...{ id, name: "three", actor: "ada", origin: "uploaded", questions: 3 },
      models: [
        { model: "small", accuracy: 1 / 3, voted: 1, meanTokens: 10 },
        { model: "large", accuracy: 1, voted: 1, meanTokens: 30 },
      ],
    });
    expect(await said(services().survey(uploadId))).toContain("send it again");
    expect(services().removeSample(id, "ada")).toEqual({ ok: true });
    expect(await said(services().removeSample(id, "ada"))).toBe("There is no such sample of answers.");
    expect([audited("keep sample of answers").length, audited("remove sample of answers").length]).toEqual([1, 1]);
  });

  it("are placed with a workload's lengths, every prompt in some session, and with categories' or assigned shares", async () => {
    const { placement } = done(await services().place(placing(), never));
    expect(placement.experts.map(({ model, prompts }) => [model, prompts])).toEqual(experts.map((model) => [model, 1000]));
    expect(placement.schedules[0]?.kind).toBe("placed");
    const placed = placement.schedules[0]?.workers.flat() ?? [];
    for (const model of experts)
      expect(placed.filter((session) => session.model === model).reduce((sum, { prompts }) => sum + prompts, 0)).toBe(1000);
    const assignmentsUploadId = await upload("who.csv", "id,expert\na,qwen2.5-3b\nb,qwen2.5-3b\nb,qwen2.5-7b\n");
    const assigned = done(await services().place(placing({ assignmentsUploadId }), never));
    expect(assigned.placement.experts.map(({ prompts }) => prompts)).toEqual([1000, 500]);
    expect(assigned.placement.notes.join(" ")).toContain("assignments");
  }, 30_000);

  it("are not placed where something is missing, which a sentence names", async () => {
    const refusal = (change: Partial<PlaceRequest>) => said(services().place(placing(change), never));
    expect(await refusal({ gpu: "abacus" })).toBe("There is no card of the GPU abacus.");
    expect(await refusal({ ensemble: ensemble({ experts: ["qwen2.5-3b", "nobody"] }) })).toContain("There is no card of nobody");
    expect(await refusal({ ensemble: ensemble({ experts: ["qwen2.5-3b", "llama-3.1-8b"] }) })).toContain(
      "how long answers of llama-3.1-8b are",
    );
    expect(await refusal({ lengths: { kind: "sample", sampleId: "none" } })).toBe("There is no such sample of answers.");
    expect(await refusal({ promptSetId: "none" })).toBe("There is no such sample of prompts.");
    const assignmentsUploadId = await upload("who.csv", "id,expert\na,stranger\n");
    expect(await refusal({ assignmentsUploadId })).toContain("stranger, which is no expert");
  });

  it("have measured sessions of a table, to which placements are fitted until they are removed", async () => {
    expect(services().sessions()).toEqual([]);
    const head = "model,gpu,tp,prompts,concurrency,mean_output_tokens,max_output_tokens,seconds,load_seconds,origin";
    // 2 s, 0.01 s for each token of the longest answer and 0.001 s for each of all.
    const rows = [100, 400, 800, 1600].map((prompts) => `qwen2.5-3b,l40s,1,${prompts},64,200,500,${7 + 0.2 * prompts},11,`);
    const survey = async (text: string) => {
      const id = await upload("sessions.csv", text);
      return {
        id,
        survey: await surveyUpload({
          uploads: runtime.uploads,
          id,
          kind: "sessions",
          cards: runtime.cards.read().catalogue,
          signal: never,
        }),
      };
    };
    expect(await said((await survey(`${head}\n`)).survey)).toContain("no rows");
    expect(await said((await survey(`${head}\nnobody,l40s,1,1,,1,1,1,,\n`)).survey)).toContain("line 2: model is");
    const { id, survey: read } = await survey([head, ...rows].join("\n"));
    expect(read).toEqual({ ok: true, rows: 4, models: ["qwen2.5-3b"], gpus: ["l40s"] });
    expect(services().sessions()).toEqual([]);
    expect(await services().keepSessions(id, "ada")).toEqual({ ok: true, rows: 4 });
    expect(await said(services().keepSessions(id, "ada"))).toContain("send it again");
    expect(services().sessions()).toMatchObject([{ model: "qwen2.5-3b", gpu: "l40s", gpus: 1, sessions: 4, loads: 4, emulated: 0 }]);
    const costs = async () => {
      const { placement } = done(await services().place(placing(), never));
      return placement.experts.map(({ cost, load, loadSeconds }) => [cost.kind, load.kind, loadSeconds]);
    };
    expect((await costs())[0]).toEqual(["measured", "measured", 11]);
    const of = { model: "qwen2.5-3b", gpu: "l40s", gpus: 1 };
    expect(services().removeSessions(of, "bob")).toEqual({ ok: true });
    expect(await said(services().removeSessions(of, "bob"))).toBe("There are no such sessions.");
    expect((await costs())[0]).toEqual(["modelled", "estimated", expect.any(Number)]);
    expect(audited("import sessions")).toMatchObject([{ actor: "ada", subject: "sessions.csv", detail: "4 sessions of 1 model" }]);
    expect(audited("remove measured sessions")).toMatchObject([
      { actor: "bob", subject: "qwen2.5-3b", detail: "4 rows of engines on 1 x l40s" },
    ]);
  }, 30_000);

  it("are served nowhere while the gateway is silent", async () => {
    const at = { clusterId: embeddedClusterId, name: "example", reason: "" };
    expect(await said(services().served(embeddedClusterId))).toMatch(/cannot be reached/);
    expect(await said(services().serve(at, "ada"))).toMatch(/cannot be reached/);
    expect(await said(services().serve({ ...at, clusterId: "nowhere" }, "ada"))).toContain("not connected");
    expect(await said(services().serve({ ...at, name: "none" }, "ada"))).toBe("There is no ensemble none.");
    expect(audited("serve ensemble")).toEqual([]);
  });

  it("replace no version of their name but the one that they were made of", async () => {
    const keep = (tau: number, expects: number | null) => services().keep({ ensemble: ensemble({ name: "mine", tau }), expects }, "ada");
    expect(await said(keep(1, 1))).toContain("There is no ensemble mine any more");
    expect(keep(1, null)).toMatchObject({ ok: true, version: 1 });
    expect(await said(keep(0.5, null))).toContain("There is an ensemble mine already, as version 1");
    expect(keep(0.5, 1)).toMatchObject({ ok: true, version: 2 });
    expect(await said(keep(0.6, 1))).toContain("mine is version 2 by now, kept by ada, and this is a change of version 1");
    const found = services().list();
    expect(found.find((each) => each.ensemble.name === "mine")).toMatchObject({ version: 2, ensemble: { tau: 0.5 } });
    services().remove("mine", "ada");
    expect(await said(keep(0.6, 2))).toContain("There is no ensemble mine any more");
    expect(keep(0.6, null)).toMatchObject({ ok: true, version: 4 });
    services().remove("mine", "ada");
  });
});

describe("ensembles over a running cluster", () => {
  let cluster: Awaited<ReturnType<typeof startTestCluster>>;
  let runtime: Runtime;
  beforeAll(async () => {
    cluster = await startTestCluster();
    runtime = createRuntime(studioSettings(cluster.environment));
    runtime.services.ensembles.keep({ ensemble: ensemble(), expects: null }, "ada");
    runtime.services.ensembles.keep({ ensemble: ensemble({ name: "large", aggregator: { model: "qwen2.5-32b" } }), expects: null }, "ada");
    const ids = Array.from({ length: 24 }, (_, at) => `q${at}`);
    keepPrompts(
      cluster.store,
      ids.map((id, at) => ({
        ...{ id, category: at % 2 === 0 ? "even" : "odd", atMs: null, test: null, reference: at < 20 ? "A" : null },
        body: { messages: [{ role: "user", content: `Question ${id}: which letter?` }] },
      })),
    );
  }, 60_000);
  afterAll(async () => {
    await runtime.close();
    await cluster.stop();
  });

  const request = (change: Partial<BatchRequest> = {}): BatchRequest => ({
    ...{ name: "nightly", clusterId: embeddedClusterId, promptSetId: "set", ensemble: "vote", workers: 2, gpusPerWorker: 1 },
    ...{ maxModelsPerWorker: 2, replicas: "amortised", concurrency: 16, timeoutSeconds: 60, attempts: 2 },
    ...change,
  });

  async function until<Value>(look: () => Value | null | undefined | false): Promise<Value> {
    for (;;) {
      const value = look();
      if (value !== null && value !== undefined && value !== false) return value;
      await new Promise((wake) => setTimeout(wake, 50));
    }
  }

  it("are served by the gateway as they are kept, with another tau from the next decision on, until they are withdrawn", async () => {
    const { ensembles, audit, plans, applications } = runtime.services;
    const drafted = planOnGpus("both", { "qwen2.5-3b": [2], "qwen2.5-7b": [3] });
    const workload = { ...drafted.inputs.workload, id: runtime.services.workloads.list()[0]?.id ?? "" };
    await until(() => runtime.services.clusters.list().length > 0);
    const sealed = sealPlan({ ...drafted, inputs: { ...drafted.inputs, workload } }, new Date());
    const plan = await importAndApprove(plans, sealed, embeddedClusterId);
    const started = done(await applications.start({ planId: plan.id, clusterId: embeddedClusterId, expectedRunningPlanId: null }, "a"));
    await until(() => applications.get(started.application.id)?.endedAt);
    const at = { clusterId: embeddedClusterId, name: "vote", reason: "a test" };
    expect(done(await ensembles.served(embeddedClusterId)).served.ensembles).toEqual([]);
    done(await ensembles.serve(at, "ada"));
    done(await ensembles.setTau({ ...at, tau: AGGREGATE_ALL }, "bob"));
    done(await ensembles.setTau({ ...at, tau: 0.5, reason: "" }, "bob"));
    expect(done(await ensembles.served(embeddedClusterId)).served.ensembles).toMatchObject([{ ensemble: { name: "vote", tau: 0.5 } }]);
    done(await ensembles.withdraw(at, "ada"));
    expect(done(await ensembles.served(embeddedClusterId)).served.ensembles).toEqual([]);
    const lines = audit.list(100).filter(({ subject }) => subject === "vote");
    expect(lines.map(({ actor, action }) => `${actor}: ${action}`)).toEqual(
      expect.arrayContaining(["ada: serve ensemble", "bob: set tau of ensemble", "ada: withdraw ensemble"]),
    );
    expect(lines.filter(({ action }) => action === "set tau of ensemble").map(({ detail }) => detail)).toEqual([
      "tau aggregate all → 1/2",
      "tau 1 → aggregate all; a test",
    ]);
    expect(await said(ensembles.setTau({ ...at, tau: 0.5 }, "ada"))).toMatch(/vote/);
  });

  it("run as a batch on free GPUs as its preview says, with results to download and a sample of them", async () => {
    const { batches, ensembles, clusters } = runtime.services;
    await until(() => clusters.list().length > 0);
    expect(await said(batches.preview(request({ workers: 3 }), never))).toContain("Only 2 workers fit (1 l40s each");
    expect(await batches.room({ clusterId: embeddedClusterId, gpusPerWorker: 1 }, never)).toEqual({ ok: true, workers: 2 });
    expect(await batches.room({ clusterId: embeddedClusterId, gpusPerWorker: 8 }, never)).toEqual({ ok: true, workers: 0 });
    expect(await said(batches.room({ clusterId: "none", gpusPerWorker: 1 }, never))).toContain("not connected");
    expect(await said(batches.preview(request({ ensemble: "none" }), never))).toBe("There is no ensemble none.");
    expect(await said(batches.preview(request({ promptSetId: "none" }), never))).toBe("There is no such sample of prompts.");
    const who = Readable.from([Buffer.from("id,expert\nq0,qwen2.5-3b\n")]);
    const { id: assignmentsUploadId } = done(await runtime.uploads.save(who, "who.csv"));
    expect(await said(batches.preview(request({ assignmentsUploadId }), never))).toContain("name no expert for the question q1");
    const { preview } = done(await batches.preview(request(), never));
    expect(preview).toMatchObject({ questions: 24, gpus: [{ node: "node1", gpus: [0, 1] }] });
    expect(preview.notes.join(" ")).toContain("emulated");
    const aggregator = preview.aggregator ?? expect.fail("nothing is predicted of the aggregator");
    expect([aggregator.model, aggregator.tp * aggregator.copies]).toEqual(["qwen2.5-7b", 2]);
    expect([aggregator.loadSeconds > 0, aggregator.allSeconds > 0]).toEqual([true, true]);
    expect(batches.list()).toEqual([]);

    const { id } = done(await batches.start(request(), never, "ada"));
    expect(await said(batches.start(request(), never, "ada"))).toContain('The batch "nightly" runs');
    expect(await said(batches.remove(id, "ada"))).toContain("not over");
    expect(await said(ensembles.keepSample({ name: "early", source: { kind: "batch", batchId: id } }, "ada"))).toContain("not over yet");
    const batch = await until(() => {
      const seen = batches.get(id);
      return seen !== null && seen.state !== "running" && seen;
    });
    expect([batch.state, batch.pause]).toEqual(["done", null]);
    const results = [...(batches.results(id) ?? [])];
    expect(results).toHaveLength(24);
    expect(batches.results("none")).toBeNull();
    // Its job file describes what it did, whatever happened to its ensemble.
    done(ensembles.remove("vote", "ada"));
    const file = done(await batches.export({ batchId: id, format: "ray" }, never));
    expect(file.text).toContain("24 questions through the experts of vote, on 2 workers of 1 l40s");
    expect(await said(batches.export({ request: request(), format: "ray" }, never))).toBe("There is no ensemble vote.");
    expect(await said(batches.export({ batchId: "none", format: "ray" }, never))).toBe("There is no such batch.");
    done(ensembles.keep({ ensemble: ensemble(), expects: null }, "ada"));

    done(await ensembles.keepSample({ name: "nightly's", source: { kind: "batch", batchId: id } }, "ada"));
    expect(ensembles.samples()[0]).toMatchObject({ name: "nightly's", origin: "emulated", questions: 20, categories: ["even", "odd"] });
    expect(ensembles.samples()[0]?.models.map(({ model }) => model)).toEqual(experts);
    // The share that its sample sent to the aggregator is the expectation for the next one.
    const labelled = results.filter(({ correct }) => correct !== null);
    const share = labelled.filter(({ verdict }) => verdict === "aggregated").length / 20;
    const again = done(await batches.preview(request(), never)).preview.aggregator;
    expect(again?.expected).toMatchObject({ share, source: 'the sample "nightly\'s"' });
    expect(again?.expected?.seconds).toBeLessThanOrEqual(again?.allSeconds ?? 0);
    expect(batches.remove(id, "ada")).toEqual({ ok: true });
    expect(batches.list()).toEqual([]);
    const actions = runtime.services.audit.list(100).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(["start batch", "remove batch"]));
  }, 60_000);

  it("become a job file for somebody else's cluster without anything being begun", async () => {
    const { batches } = runtime.services;
    for (const [format, ending] of [
      ["kubernetes", ".yaml"],
      ["ray", ".sh"],
    ] as const) {
      const { name, text } = done(await batches.export({ request: request(), format }, never));
      expect(name.endsWith(ending)).toBe(true);
      expect(text).toContain("24 questions through the experts of vote, on 2 workers of 1 l40s");
    }
    expect(await said(batches.export({ request: request({ gpusPerWorker: 8 }), format: "ray" }, never))).toContain(
      "No worker fits (8 l40s each",
    );
    // It runs the experts only, so that it is no matter whether their workers have room for the aggregator.
    const small = request({ ensemble: "large", workers: 1 });
    expect(await said(batches.preview(small, never))).toContain("The aggregator qwen2.5-32b does not fit the 1 l40s");
    expect(await said(batches.start(small, never, "ada"))).toContain("does not fit the 1 l40s");
    expect(done(await batches.export({ request: small, format: "ray" }, never)).text).toContain("questions through the experts of large");
    expect(batches.list()).toEqual([]);
  }, 30_000);
});
