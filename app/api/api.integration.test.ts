import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signedInHeaders, tokenOf } from "@/server/api/testing/signedInHeaders";
import type { KeptPlan } from "@/server/contracts/studio";
import { studioSettings } from "@/server/lib/studioSettings";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createRuntime, type Runtime } from "@/server/runtime";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { GET as downloadPlan } from "./plans/[id]/route";
import { POST as signIn } from "./sign-in/route";
import { POST as mutate, GET as query } from "./trpc/[trpc]/route";
import { POST as upload } from "./uploads/route";

const origin = "http://127.0.0.1:4600";
const nowhere = "http://127.0.0.1:9";
const csvHeader = "task,metric,prompt_id,category,family,size_rank,model,score,in_tok,out_tok";
const csvRow = (prompt: number, model: string, rank: number, score: number) =>
  `gsm,correct,p${prompt},math,F,${rank},${model},${score},100,${50 + prompt}`;
const table = [csvHeader];
for (let prompt = 0; prompt < 40; prompt += 1) {
  table.push(csvRow(prompt, "llama-3.1-8b", 1, prompt % 2), csvRow(prompt, "llama-3.1-70b", 2, prompt % 4 === 0 ? 0 : 1));
}

describe("the studio's HTTP API", () => {
  let folder: string;
  let runtime: Runtime;
  let signedIn: Record<string, string> = {};
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-api-"));
    const settings = studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere });
    runtime = createRuntime(settings);
    Object.assign(globalThis, { [Symbol.for("weir.runtime")]: runtime });
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });

  const request = (path: string, init: RequestInit & { readonly duplex?: "half" } = {}) =>
    new Request(`${origin}${path}`, { ...init, headers: { host: "127.0.0.1:4600", ...signedIn, ...init.headers } });
  const result = async (response: Response) => {
    const body = (await response.json()) as { result?: { data: unknown }; error?: { message: string; data: { code: string } } };
    return body.result?.data ?? body.error;
  };
  const ask = async (path: string, input?: unknown) =>
    result(await query(request(`/api/trpc/${path}${input === undefined ? "" : `?input=${encodeURIComponent(JSON.stringify(input))}`}`)));
  const change = async (path: string, input: unknown, headers: Record<string, string> = { origin }) =>
    result(
      await mutate(
        request(`/api/trpc/${path}`, {
          method: "POST",
          body: JSON.stringify(input),
          headers: { "content-type": "application/json", ...headers },
        }),
      ),
    );
  const send = async (kind: string, body: string | ReadableStream) => {
    const init = typeof body === "string" ? { body } : { body, duplex: "half" as const };
    const response = await upload(request(`/api/uploads?kind=${kind}&name=table.csv`, { method: "POST", ...init, headers: { origin } }));
    return { status: response.status, ...((await response.json()) as { uploadId?: string; message?: string; survey?: unknown }) };
  };
  const uploadsKept = () => readdirSync(join(folder, "uploads"));

  it("lets nobody in without a session", async () => {
    expect(await ask("session.me")).toMatchObject({ data: { code: "UNAUTHORIZED" } });
    expect((await send("outcomes", table.join("\n"))).status).toBe(401);
    expect((await downloadPlan(request("/api/plans/x"), { params: Promise.resolve({ id: "x" }) })).status).toBe(401);
    expect(uploadsKept()).toEqual([]);
  });

  it("signs in by the printed link, once, and gives the page token in the body alone", async () => {
    const token = tokenOf(runtime.signInLink());
    const post = (body: string, headers: Record<string, string> = {}) =>
      signIn(request("/api/sign-in", { method: "POST", body, headers: { "content-type": "application/json", origin, ...headers } }));
    const withToken = JSON.stringify({ token });
    expect((await post(withToken, { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(withToken, { origin: "https://evil.example" })).status).toBe(403);
    expect((await post("x".repeat(2_000))).status).toBe(413);
    expect((await post("{")).status).toBe(400);
    const first = await post(withToken);
    expect(first.status).toBe(200);
    const { pageToken } = (await first.json()) as { pageToken: string };
    expect([...first.headers].join()).not.toContain(pageToken);
    expect((await post(withToken)).status).toBe(401);
    signedIn = { cookie: first.headers.get("set-cookie")?.split(";")[0] ?? "", "x-weir-page-token": pageToken };
    expect(await ask("session.me")).toMatchObject({ name: "local admin", role: "admin", kind: "session" });
  });

  it("changes nothing that another site asks for", async () => {
    const cluster = { name: "theirs", gpu: "l4", nodes: 1, gpusPerNode: 1, usdPerGpuHour: 1 };
    expect(await change("clusters.describe", cluster, { origin: "https://evil.example" })).toMatchObject({ data: { code: "FORBIDDEN" } });
    expect(await ask("clusters.list")).toEqual([]);
  });

  it("says what is wrong with an input in a sentence, without a stack", async () => {
    const fault = await change("clusters.describe", { name: " ", gpu: "l4", nodes: 1, gpusPerNode: 1, usdPerGpuHour: 1 });
    expect(fault).toMatchObject({ message: "name: give it a name", data: { code: "BAD_REQUEST" } });
    expect(JSON.stringify(fault)).not.toMatch(/stack|node_modules/);
  });

  it("orders nothing of a gateway that is away, is another cluster's, or was not given what it needs, and says which", async () => {
    const clusterId = "embedded";
    const away = /^The gateway at http:\/\/127\.0\.0\.1:9 cannot be reached/;
    const model = "qwen2.5-7b";
    for (const [procedure, input] of [
      ["panic", { model, reason: "why" }],
      ["clearPanic", { reason: "" }],
      ["startMirror", { share: 0.5, maxInFlight: 4, reason: "" }],
      ["setControls", { etag: "e", thresholds: [50], reason: "" }],
      ["rollBack", { etag: "e", reason: "" }],
    ] as const) {
      expect(await change(`gateway.${procedure}`, { clusterId, ...input })).toEqual({ ok: false, message: expect.stringMatching(away) });
    }
    expect(await ask("gateway.models", { clusterId: "nowhere" })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/no gateway/),
    });
    const fault = async (procedure: string, input: object) =>
      ((await change(`gateway.${procedure}`, { clusterId, ...input })) as { message: string }).message;
    expect(await fault("panic", { model, reason: " " })).toBe("reason: give a reason");
    const canary = { planId: "p", stepSeconds: 60, minRequests: 100, stop: { errorShare: 0.02, slow: null }, reason: "" };
    expect(await fault("startCanary", { ...canary, shares: [0.25, 0.05, 1] })).toBe("shares: give shares that rise, up to 100 %");
    expect(await fault("startCanary", { ...canary, shares: [0.05, 0.25] })).toBe("shares: give shares that rise, up to 100 %");
    expect(await fault("startCanary", { ...canary, shares: [1] })).toBe("There is no plan p.");
    expect((await ask("audit.list", { limit: 1000 })) as object[]).not.toContainEqual(
      expect.objectContaining({ action: expect.stringMatching(/^order/), outcome: "done" }),
    );
  });

  it("gives ranges of time as gaps where nothing is known, with units, and refuses one that ends before it begins", async () => {
    const series = [{ subject: "engine:gone", quantity: "running" }];
    const range = { clusterId: "embedded", fromMs: 0, toMs: 60_000, points: 6, series };
    expect(await ask("live.range", range)).toEqual({
      bucketMs: 10_000,
      atMs: [],
      series: [{ subject: "engine:gone", quantity: "running", min: [], max: [], mean: [], last: [], count: [] }],
      problems: [],
    });
    expect(await ask("live.range", { ...range, toMs: 0 })).toMatchObject({ message: "toMs: a range ends after it begins" });
    expect(await ask("live.subjects", { clusterId: "embedded", fromMs: 0, toMs: 60_000 })).toEqual([]);
    expect(await ask("live.quantities")).toMatchObject({ engine: { kvCapacityTokens: { unit: "tokens" } } });
  });

  it("ships with a generated workload that can be opened", async () => {
    const [workload] = (await ask("workloads.list")) as { id: string; generated: boolean; prompts: number }[];
    expect(workload?.generated).toBe(true);
    expect(await ask("workloads.get", { id: workload?.id })).toMatchObject({ summary: { prompts: workload?.prompts } });
  });

  it("imports an uploaded table under its name, and lets go of the file", async () => {
    const { uploadId } = await send("outcomes", table.join("\n"));
    const order = { arrivalsUploadId: null, family: null, tasks: [], judgeAuc: null, name: "mine", aliases: {} };
    expect(await change("workloads.import", { outcomesUploadId: uploadId, ...order })).toMatchObject({ ok: true });
    expect(uploadsKept()).toEqual([]);
    const again = await send("outcomes", table.join("\n"));
    expect(await change("workloads.import", { outcomesUploadId: again.uploadId, ...order })).toMatchObject({
      ok: false,
      message: 'The same prompts and arrivals are here already, as "mine" v1.',
    });
  });

  it.each([
    ["a missing column", "task,model\ngsm,x\n", /table\.csv line 1: .*score/],
    ["a score of 140 %", [csvHeader, csvRow(1, "llama-3.1-8b", 1, 1.4)].join("\n"), /table\.csv line 2: score is '?1\.4/],
    ["a negative length", [csvHeader, "gsm,correct,p,math,F,1,llama-3.1-8b,1,100,-5"].join("\n"), /table\.csv line 2: out_tok is '?-5/],
    ["an empty file", " ", /table\.csv .*(empty|no )/],
  ])("refuses a table with %s and keeps nothing", async (_, text, sentence) => {
    const before = uploadsKept();
    const { status, message } = await send("outcomes", text);
    expect(status).toBe(422);
    expect(message).toMatch(sentence);
    expect(uploadsKept()).toEqual(before);
  });

  it("takes a table of measured runs, and refuses one of which no row can be read", async () => {
    const before = uploadsKept();
    const header = "engine,model,gpu,isl,osl,concurrency";
    const good = await send("serving", `${header}\nvllm,llama-3.1-8b,h100-sxm,100,20,2\n`);
    expect(good).toMatchObject({ status: 200, survey: { ok: true, rows: 1 } });
    runtime.uploads.remove(good.uploadId ?? "");
    const bad = await send("serving", `${header}\nvllm,llama-3.1-8b,h100-sxm,many,20,2\n`);
    expect(bad).toMatchObject({ status: 422, message: expect.stringMatching(/table\.csv.*ine 2.*isl/) });
    expect(await send("holidays", header)).toMatchObject({ status: 400, message: expect.stringContaining("holidays") });
    expect(uploadsKept()).toEqual(before);
  });

  it("stops reading an upload past 64 MB and keeps nothing of it", async () => {
    const before = uploadsKept();
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    const { status, message } = await send("outcomes", endless);
    expect(status).toBe(413);
    expect(message).toMatch(/larger than 64 MB.*weir -- import/);
    expect(sent).toBeLessThan(80);
    expect(uploadsKept()).toEqual(before);
  });

  it("takes a plan from elsewhere only as it was sealed, approves it only by its hash, and gives it back unchanged", async () => {
    const draft = examplePlanDraft();
    const rows = [{ gpu: "l40s", nodes: 1, gpusPerNode: 2, usdPerGpuHour: 1.5 }];
    const { id: clusterId } = (await change("clusters.describe", { name: "described", rows })) as { id: string };
    const cluster = { ...draft.inputs.cluster, id: clusterId };
    const plan = sealPlan({ ...draft, inputs: { ...draft.inputs, cluster } }, new Date("2026-01-01T00:00:00Z"));
    const altered = { ...plan, policy: { ...plan.policy, thresholds: [61] } };
    expect(await change("plans.import", { document: altered })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/policyHash does not match/),
    });
    expect(await change("plans.import", { document: { kind: "Plan" } })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/not a plan/),
    });
    expect(await change("plans.import", { document: plan })).toEqual({ ok: true, id: plan.id });
    const { approvalHashes } = (await ask("plans.get", { planId: plan.id })) as KeptPlan;
    const hash = approvalHashes[clusterId];
    const approve = (asked: object) => change("plans.approve", { planId: plan.id, clusterId, hash, reason: "", ...asked });
    expect(await approve({ hash: plan.id })).toMatchObject({ ok: false });
    expect(await approve({ hash: "f".repeat(64) })).toMatchObject({ ok: false });
    expect(await approve({ clusterId: "gone" })).toMatchObject({ ok: false, message: "There is no cluster gone." });
    expect(await approve({ reason: "looks right" })).toMatchObject({ ok: true });
    expect(await ask("plans.list", { clusterId: null })).toMatchObject([
      { id: plan.id, approvedBy: "local admin", running: false, gpus: 2 },
    ]);
    const download = await downloadPlan(request(`/api/plans/${plan.id}`), { params: Promise.resolve({ id: plan.id }) });
    expect(await download.json()).toEqual(plan);
    const lines = (await ask("audit.list", { limit: 6 })) as { action: string; outcome: string; detail: string }[];
    expect(lines.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      ...["approve done", "approve refused", "approve refused", "import plan done", "import plan refused", "import plan refused"],
    ]);
    expect(lines[2]?.detail).toMatch(/^The hash is not that of this plan on this cluster/);
  });

  it("takes plans of every kind of policy, and refuses one whose parts make no sense together with the reason", async () => {
    const draft = examplePlanDraft();
    const { order } = draft.policy;
    const importing = async (policy: PolicyDocument) =>
      change("plans.import", { document: sealPlan({ ...draft, policy }, new Date("2026-01-01T00:00:00Z")) });
    expect(await importing({ kind: "fixed", model: "small", order, place: { kind: "round-robin", affinity: { ratio: 1 } } })).toMatchObject(
      {
        ok: false,
        message: expect.stringMatching(/policy cannot run\. Round-robin takes the replicas in turn/),
      },
    );
    const models = ["small", "large"].map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 64, confidence: 0.5 }));
    const approvedRanges = { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } };
    const knobs = { tau: 0.5, deltaScore: 0.1, floorSeconds: 2 };
    const slack = { kind: "slack" as const, models, ...knobs, order, place: { kind: "lowest-kv" as const }, approvedRanges };
    const imported = (await importing(slack)) as { ok: boolean; id: string };
    expect(imported).toMatchObject({ ok: true });
    expect(await ask("plans.get", { planId: imported.id })).toMatchObject({ plan: { policy: slack } });
  });

  it("says what is not there", async () => {
    expect(await ask("plans.get", { planId: "none" })).toMatchObject({ data: { code: "NOT_FOUND" } });
    expect(await ask("applications.get", { id: "none" })).toMatchObject({ message: "There is no application none." });
    expect(await change("plans.keep", { planId: "none" })).toMatchObject({ ok: false });
  });

  it("refuses load and applications while nothing can serve, with the reason", async () => {
    const load = { clusterId: "embedded", workloadId: "w", requestsPerSecond: 1, seconds: 1 };
    expect(await change("load.start", load)).toMatchObject({ ok: false, message: expect.stringMatching(/No plan is in force/) });
    const apply = await change("applications.start", { planId: "x", clusterId: "embedded", expectedRunningPlanId: null });
    expect(apply).toMatchObject({ ok: false });
    expect(await ask("load.status")).toMatchObject({ state: "idle", p95Seconds: null });
  });

  it("ends a session, and with it the streams that it opened", async () => {
    const other = signedInHeaders(runtime);
    const stream = await query(request("/api/trpc/live.stream?input=%7B%22clusterId%22%3A%22embedded%22%7D", { headers: other }));
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const ended = stream.text();
    expect(
      await mutate(
        request("/api/trpc/session.signOut", { method: "POST", headers: { ...other, origin, "content-type": "application/json" } }),
      ),
    ).toMatchObject({ status: 200 });
    await ended;
    signedIn = other;
    expect(await ask("session.me")).toMatchObject({ data: { code: "UNAUTHORIZED" } });
  });

  it("refuses more streams than a page needs", async () => {
    signedIn = signedInHeaders(runtime);
    const open = () => query(request("/api/trpc/live.stream?input=%7B%22clusterId%22%3A%22embedded%22%7D"));
    const answers = await Promise.all(Array.from({ length: 40 }, open));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(24);
    expect(statuses.filter((status) => status === 429)).toHaveLength(16);
    await Promise.all(answers.map((answer) => answer.body?.cancel()));
  });

  it("stops reading a call past 16 MB", async () => {
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
    });
    const headers = { "content-type": "application/json", origin };
    const answer = await mutate(request("/api/trpc/plans.import", { method: "POST", body: endless, duplex: "half", headers }));
    expect(answer.status).toBe(413);
    expect(sent).toBeLessThan(30);
  });
});
