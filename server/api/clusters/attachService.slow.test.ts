import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { askCascade, planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { ClusterDetail, ClusterSummary, TriedEndpoint, TryEvent } from "@/server/contracts/studio";
import { gatewayUses } from "@/server/fleet/connection";
import { embeddedClusterId } from "@/server/fleet/fleet";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import type { Plan } from "@/solver/plan/plan";

const until = async <Value>(look: () => Value | Promise<Value> | null | undefined | false): Promise<Value> => {
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value;
    await new Promise((wake) => setTimeout(wake, 50));
  }
};

const signal = new AbortController().signal;
const by = "operator";

const adminHeaders = { authorization: "Bearer test-token", "content-type": "application/json" };

/** No process listens there. */
const deadUrl = "http://127.0.0.1:9";
const secret = "sk-0123456789abcdefghij";

/** A studio with its embedded cluster, and externally run engines and a gateway: those of another emulator. */
describe("attaching engines that already run", { timeout: 60_000 }, () => {
  let own: Awaited<ReturnType<typeof startTestCluster>>;
  let others: Awaited<ReturnType<typeof startTestCluster>>;
  let runtime: Runtime;
  let urls: readonly string[];
  /** The other emulator's judge, in the role of an operator's own. */
  let judge: { readonly model: string; readonly url: string };
  let clusterId = "";
  const [SMALL, MIDDLE] = ["qwen2.5-3b", "qwen2.5-7b"] as const;

  beforeAll(async () => {
    [own, others] = await Promise.all([startTestCluster({ signed: false }), startTestCluster({ signed: false })]);
    const engines = targetEngines(planOnGpus("there", { [SMALL]: [0, 1], [MIDDLE]: [2] }));
    const options = { signal, report: () => undefined };
    expect(await others.connector.applyStep({ kind: "load-outcomes", workloadId: "w" }, options)).toMatchObject({ ok: true });
    for (const engine of engines) expect(await others.connector.applyStep({ kind: "start", engine }, options)).toMatchObject({ ok: true });
    const seen = await until(async () => {
      const found = await others.connector.observe();
      return found.ok && found.value.engines.length === 3 ? found.value.engines : null;
    });
    urls = engines.map(({ id }) => (seen ?? []).find((engine) => engine.id === id)?.url ?? "");
    for (const url of urls) await until(async () => (await fetch(`${url}/health`).catch(() => null))?.ok);
    const emulator = await fetch(`http://127.0.0.1:${others.environment.WEIR_EMULATOR_PORT}/cluster`, { headers: adminHeaders });
    judge = ((await emulator.json()) as { readonly judge: typeof judge }).judge;
    runtime = createRuntime(studioSettings(own.environment));
    // The gateway was started with the studio's token.
    secretOrigins.allow(gatewayUses(gateway()));
    await until(() => summary(embeddedClusterId)?.health.state === "up");
  }, 60_000);
  afterAll(async () => {
    await runtime.close();
    await Promise.all([own.stop(), others.stop()]);
  });

  const summary = (id: string): ClusterSummary | undefined => runtime.services.clusters.list().find(({ spec }) => spec.id === id);
  const detail = (): ClusterDetail => {
    const found = runtime.services.attach.detail(clusterId);
    if (found === null) throw new Error("There is no such cluster.");
    return found;
  };
  const audited = (action: string) => runtime.services.audit.list(100).filter((line) => line.action === action);

  async function tried(request: Parameters<typeof runtime.services.attach.tryEndpoints>[0]): Promise<readonly TryEvent[]> {
    const events: TryEvent[] = [];
    for await (const event of runtime.services.attach.tryEndpoints(request, signal, by)) events.push(event);
    return events;
  }
  const endpointsOf = (events: readonly TryEvent[]): readonly TriedEndpoint[] =>
    events.flatMap((event) => (event.kind === "tried" ? [event.endpoint] : []));

  const gateway = () => ({ runBy: "operator", url: others.gatewayUrl, adminUrl: others.gatewayAdminUrl }) as const;
  /** The three engines unchanged: what cannot be queried is confirmed. */
  const connection = () => ({
    kind: "endpoints",
    judge,
    endpoints: urls.map((url, index) => ({ name: `e${index}`, url, model: index < 2 ? SMALL : MIDDLE, gpu: "l40s", precision: "bf16" })),
  });

  it("reads pasted addresses, tells each endpoint as soon as it is known, and what of it is guessed", async () => {
    const events = await tried({ text: `# my engines\n${urls[0]}/v1\n${urls[2]}, ${deadUrl}` });
    expect(events[0]).toMatchObject({ kind: "read", endpoints: [{ url: urls[0] }, { url: urls[2] }, { url: deadUrl }] });
    const found = endpointsOf(events);
    expect(found).toHaveLength(3);
    const [small, dead] = [urls[0], deadUrl].map((url) => found.find((one) => one.tried.url === url));
    expect(small).toMatchObject({
      draft: { model: SMALL, guessed: expect.arrayContaining(["gpu"]) },
      served: [SMALL],
      engine: { type: "weir-emulator" },
    });
    expect(dead).toMatchObject({ draft: null, findings: [{ what: "reached", level: "failed" }] });
  });

  it("has one token generated where that is asked", async () => {
    const endpoints = [{ name: "a", url: urls[0] ?? "" }];
    const [one] = endpointsOf(await tried({ endpoints, generate: true }));
    expect(one?.findings).toContainEqual(expect.objectContaining({ what: "token", level: "ok" }));
  });

  it("refuses what holds no address, and leaves a key out of what it answers", async () => {
    expect(await tried({ text: "our engines" })).toEqual([{ kind: "refused", message: expect.stringContaining("Line 1") }]);
    const events = await tried({ text: `curl ${urls[0]}/v1/models -H "Authorization: Bearer ${secret}"` });
    expect(JSON.stringify(events)).not.toContain(secret);
    expect(events[0]).toMatchObject({ notes: [expect.stringContaining("holds a key")] });
  });

  it.each<[string, string, readonly string[]]>([
    ["no YAML", "kind: [", ["Line 1 or the one after it is no YAML: check"]],
    ["a number where there are fields", "kind: processes\ngpus: 8", ["Line 2: gpus: It must be fields with their values."]],
    ["no kind", "endpoints: []", ["kind"]],
    ["an unknown and a wrong field", `kind: ray\ndashboard: nowhere\nmodels: {}\ncolour: red`, ["Line 2: dashboard", "Line 4: colour"]],
    [
      "a missing field",
      "kind: endpoints\nendpoints:\n  - name: a\n    url: http://a:1\n    gpu: l40s\n    precision: bf16",
      ["Line 3: endpoints.0.model: It is missing."],
    ],
    [
      "a key",
      `kind: endpoints\nendpoints:\n  - { name: a, url: "http://a:1", key: ${secret}, model: ${SMALL}, gpu: l40s, precision: bf16 }`,
      ["never written down here"],
    ],
    [
      "a plain word as a key",
      `kind: endpoints\nendpoints:\n  - { name: a, url: "http://a:1", key: hunter2, model: ${SMALL}, gpu: l40s, precision: bf16 }`,
      ["Line 3: endpoints.0.key: A key is never written down here"],
    ],
    [
      "a field for a key",
      `kind: endpoints\nendpoints:\n  - { name: a, url: "http://a:1", apiKey: hunter2, model: ${SMALL}, gpu: l40s, precision: bf16 }`,
      ["Line 3: endpoints.0.apiKey: A key is never written down here"],
    ],
    [
      "a card that is not there",
      `kind: endpoints\nendpoints:\n  - { name: a, url: "${deadUrl}", model: gpt-99, gpu: abacus, precision: bf16 }`,
      ['no card of a model "gpt-99"', 'no card of a GPU "abacus"'],
    ],
    [
      "a kubeconfig that is not there",
      "kind: kubernetes\naccess: { from: kubeconfig, path: /nowhere/config }\nnamespace: weir\nengine: { kind: vllm, image: vllm/vllm-openai }\nmodels: {}",
      ["/nowhere/config"],
    ],
  ])("says of a connection with %s what is wrong, and where", async (_, text, sentences) => {
    const found = await runtime.services.attach.tryConnection(text, by);
    expect(found.connection).toBeNull();
    const said = found.findings.filter(({ level }) => level === "failed").map(({ sentence }) => sentence);
    for (const sentence of sentences) expect(said.join("\n")).toContain(sentence);
    expect(JSON.stringify(found)).not.toMatch(new RegExp(`${secret}|hunter2`));
  });

  it("looks through a written connection, and gives it back as it would be kept", async () => {
    const found = await runtime.services.attach.tryConnection(JSON.stringify(connection()), by);
    expect(found).toMatchObject({ connection: { kind: "endpoints" }, text: expect.stringContaining("guessed: []") });
    expect(found.findings.filter(({ level }) => level === "failed")).toEqual([]);
    expect(found.findings.map(({ sentence }) => sentence)).toContain(`e0 answers: ${SMALL}.`);
  });

  it("attaches them once, under a name of their own, with an audit line, and watches them", async () => {
    const { attach } = runtime.services;
    const request = { name: "theirs", connection: connection(), gateway: gateway() };
    expect(await attach.attach({ ...request, name: "embedded (emulated)" }, by)).toMatchObject({ ok: false });
    const ownGateway = { runBy: "operator", url: own.gatewayUrl, adminUrl: own.gatewayAdminUrl } as const;
    expect(await attach.attach({ ...request, gateway: ownGateway }, by)).toMatchObject({
      ok: false,
      message: expect.stringContaining("its own gateway"),
    });
    const attached = await attach.attach(request, by);
    if (!attached.ok) throw new Error(attached.message);
    clusterId = attached.id;
    expect(await attach.attach(request, by)).toMatchObject({ ok: false, message: expect.stringContaining("already") });
    expect(audited("attach cluster")).toMatchObject([{ actor: by, subject: "theirs", detail: expect.stringContaining("3 endpoints") }]);
    await until(() => summary(clusterId)?.health.state === "up");
    expect(summary(clusterId)).toMatchObject({
      topology: "given",
      gatewayUrl: others.gatewayUrl,
      spec: { nodes: [{ gpus: 1 }, { gpus: 1 }, { gpus: 1 }] },
    });
    expect(detail()).toMatchObject({
      topology: "given",
      drift: null,
      gateway: { runBy: "operator" },
      connectionText: expect.stringContaining("kind: endpoints"),
    });
    expect(detail().engines.map(({ state }) => state)).toEqual(["not routed", "not routed", "not routed"]);
  });

  it("tests the connection whenever it is asked, with every endpoint and the gateway", async () => {
    const found = await runtime.services.attach.testConnection(clusterId);
    if (!found.ok) throw new Error(found.message);
    expect(found.findings).toContainEqual(expect.objectContaining({ what: "gateway", level: "ok" }));
    expect(found.endpoints.map(({ tried: { name } }) => name)).toEqual(["e0", "e1", "e2"]);
    expect(found.endpoints.every(({ draft }) => draft !== null)).toBe(true);
  });

  /** Planned with the given topology, as on the Plan page. */
  async function planned(): Promise<{ readonly plan: Plan; readonly notes: readonly string[] }> {
    const { plans, workloads } = runtime.services;
    const request: SolveRequest = {
      ...{
        workloadId: workloads.list()[0]?.id ?? "",
        clusterId,
        requestsPerSecond: 2,
        fixed: { models: [SMALL, MIDDLE], thresholds: [50] },
      },
      objective: {
        ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 30, qualityConfidence: 0.9 },
        ...{ latencyBudgetSeconds: null, maxGpus: 64 },
      },
    };
    for await (const event of plans.solve(request, signal)) {
      if (event.kind === "progress") continue;
      if (event.answer.outcome === "infeasible") throw new Error(event.answer.reason);
      return { plan: event.answer.plan, notes: event.answer.notes ?? [] };
    }
    throw new Error("Nothing was answered.");
  }

  it("refuses a plan that goes by scores while nobody judges, and says so when it is planned", async () => {
    const { attach, plans } = runtime.services;
    expect(await attach.change(clusterId, { ...connection(), judge: null }, by)).toEqual({ ok: true });
    const { plan, notes } = await planned();
    expect(notes.join(" ")).toContain("Nobody judges answers on theirs");
    plans.keep(plan.id, by);
    await until(() => summary(clusterId)?.health.state === "up");
    expect(await plans.diff(plan.id, clusterId)).toMatchObject({ ok: false, message: expect.stringContaining("has no judge") });
    expect(await attach.change(clusterId, connection(), by)).toEqual({ ok: true });
    await until(() => summary(clusterId)?.health.state === "up");
  });

  it("plans over exactly these engines, applies the plan, and answers requests through the gateway", async () => {
    const { plans, applications } = runtime.services;
    const { plan, notes } = await planned();
    expect(
      targetEngines(plan)
        .map(({ placements }) => placements[0]?.node)
        .sort(),
    ).toEqual(["e0", "e1", "e2"]);
    expect(notes).toEqual([expect.stringContaining("Left out, since no engine of")]);
    plans.keep(plan.id, by);
    plans.approve({ planId: plan.id, clusterId, hash: plans.get(plan.id)?.approvalHashes[clusterId] ?? "", reason: "" }, by);
    const diff = await plans.diff(plan.id, clusterId);
    if (!diff.ok) throw new Error(diff.message);
    expect(diff.diff.steps.map(({ kind }) => kind)).not.toContain("start");
    const started = await applications.start({ planId: plan.id, clusterId, expectedRunningPlanId: null, rollBackOnRegression: false }, by);
    if (!started.ok) throw new Error(started.message);
    expect(await runtime.services.attach.detach(clusterId, "theirs", by)).toMatchObject({
      ok: false,
      message: expect.stringContaining("being applied"),
    });
    const done = await until(() => {
      const application = applications.get(started.application.id);
      return application?.endedAt ? application : null;
    });
    expect(done).toMatchObject({ state: "done", error: null });
    expect((await askCascade(others.gatewayUrl, "default")).status).toBe(200);
    await until(() => detail().engines.every(({ state }) => state === "serving"));
  });

  it("holds what the gateway does against the plan, and sets nothing right", async () => {
    const id = detail().engines[0]?.id ?? "";
    await until(() => detail().drift !== null);
    expect(detail().drift?.lines).toEqual([]);
    const configUrl = `${others.gatewayAdminUrl}/config`;
    const headers = adminHeaders;
    const read = await fetch(configUrl, { headers });
    const config = (await read.json()) as { readonly replicas: readonly { readonly id: string }[] };
    const replicas = config.replicas.map((replica) => (replica.id === id ? { ...replica, state: "cordoned" } : replica));
    const put = (body: object, etag: string) =>
      fetch(configUrl, {
        method: "PUT",
        headers: { ...headers, "if-match": etag },
        body: JSON.stringify({ ...body, by: "somebody", reason: "test" }),
      });
    expect((await put({ ...config, replicas }, read.headers.get("etag") ?? "")).status).toBeLessThan(300);

    const [line] = await until(() => (detail().drift?.lines.length ?? 0) > 0 && detail().drift?.lines);
    expect(line).toMatchObject({ of: "routing", subject: id, says: expect.stringContaining("cordoned") });
    await until(() => audited("drift began").length === 1);
    expect(summary(clusterId)?.attention).toContainEqual(
      expect.objectContaining({ subject: id, sentence: expect.stringContaining("cordoned") }),
    );

    await new Promise((wake) => setTimeout(wake, 2_500));
    const later = await fetch(configUrl, { headers });
    expect(((await later.json()) as typeof config).replicas).toContainEqual(expect.objectContaining({ id, state: "cordoned" }));
    expect((await put(config, later.headers.get("etag") ?? "")).status).toBeLessThan(300);
    await until(() => detail().drift?.lines.length === 0);
    expect(audited("drift began")).toHaveLength(1);
    expect(audited("drift ended")).toHaveLength(1);
  });

  it("changes the connection with an audit line of what changed, and keeps the plan in force", async () => {
    const { attach } = runtime.services;
    const changed = connection().endpoints.map((endpoint, index) => (index === 2 ? { ...endpoint, guessed: ["gpu"] } : endpoint));
    expect(await attach.change(clusterId, { kind: "endpoints", endpoints: [] }, by)).toMatchObject({ ok: false });
    expect(await attach.change(clusterId, { ...connection(), endpoints: changed }, by)).toEqual({ ok: true });
    expect(audited("change connection")[0]).toMatchObject({ actor: by, detail: "Changed: e2: guessed." });
    await until(() => summary(clusterId)?.health.state === "up");
    expect(summary(clusterId)?.attention).toContainEqual(
      expect.objectContaining({ subject: "connection", sentence: "Guessed of e2: GPU type." }),
    );
    expect(summary(clusterId)?.runningPlanId).not.toBeNull();
    expect((await askCascade(others.gatewayUrl, "default")).status).toBe(200);
  });

  it("attaches this host's own processes as what they were seen to be, and says that their gateway has to be started", async () => {
    const { attach } = runtime.services;
    const text = `kind: processes\nnode: here\ngpus: { card: l40s, count: 2 }\nmodels:\n  ${SMALL}: { source: /nowhere }\n`;
    const found = await attach.tryConnection(text, by);
    expect(found.findings.map(({ sentence }) => sentence)).toEqual([
      "It answers.",
      "It has 1 node with GPUs: here.",
      "2 l40s, 2 of them free.",
      "No engine of this cluster runs.",
      'The program "vllm" was not found on this host.',
    ]);
    const attached = await attach.attach({ name: "here", connection: found.connection, gateway: null }, by);
    if (!attached.ok) throw new Error(attached.message);
    expect(summary(attached.id)).toMatchObject({ topology: "planned", spec: { kind: "processes", nodes: [{ name: "here", gpus: 2 }] } });
    const [gatewayAway] = await until(() => {
      const attention = summary(attached.id)?.attention ?? [];
      return attention.length > 0 && attention;
    });
    expect(gatewayAway).toMatchObject({ level: "bad", sentence: expect.stringContaining("gateway") });
    const endpoints = { kind: "endpoints", endpoints: connection().endpoints };
    expect(await attach.change(attached.id, endpoints, by)).toMatchObject({
      ok: false,
      message: expect.stringContaining("of the kind processes"),
    });
    expect(await attach.detach(attached.id, "here", by)).toEqual({ ok: true });
  });

  it("says that logs of engines are with whoever runs them", async () => {
    expect(await runtime.services.attach.engineLog(clusterId, detail().engines[0]?.id ?? "")).toMatchObject({
      ok: false,
      message: expect.stringContaining("does not start its engines"),
    });
  });

  it("lets go only with the name typed again; engines, gateway, plans and history stay", async () => {
    const { attach, plans, applications } = runtime.services;
    expect(await attach.detach(embeddedClusterId, "embedded (emulated)", by)).toMatchObject({ ok: false });
    expect(await attach.detach(clusterId, "thiers", by)).toMatchObject({ ok: false, message: expect.stringContaining("theirs") });
    expect(await attach.detach(clusterId, "theirs", by)).toEqual({ ok: true });
    expect(summary(clusterId)).toMatchObject({ spec: { kind: "described" }, runningPlanId: null, gatewayUrl: null, attention: [] });
    expect(attach.detail(clusterId)).toBeNull();
    expect(applications.list(clusterId)).toHaveLength(1);
    expect(plans.list(clusterId)).not.toHaveLength(0);
    expect((await askCascade(others.gatewayUrl, "default")).status).toBe(200);
  });
});
