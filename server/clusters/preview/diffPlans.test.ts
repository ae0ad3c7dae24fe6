import { describe, expect, it } from "vitest";
import type { CascadePolicy } from "@/solver/plan/plan";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { type WorkflowAgent, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { planMismatch } from "../apply/planMismatch";
import { engineId, targetEngines } from "../steps/targetEngines";
import { planOnGpus } from "../testing/testCluster";
import { diffPlans } from "./diffPlans";

const signs = (lines: readonly { readonly sign: string; readonly subject: string }[]) =>
  lines.map((line) => `${line.sign} ${line.subject}`);

describe("diffPlans", () => {
  it("names what is added, removed, changed and kept", () => {
    const before = planOnGpus("before", { a: [0], b: [1] });
    const after = planOnGpus("after", { a: [0, 2] });
    expect(signs(diffPlans(before, after))).toEqual([
      "~ a",
      "- b",
      "~ cascade",
      "= order",
      "= placement",
      "- threshold after a",
      "- approved range after a",
      "- judge",
      "+ a-bf16-tp1-pp1-node1-2",
      "- b-bf16-tp1-pp1-node1-1",
      "= a-bf16-tp1-pp1-node1-0",
    ]);
  });

  it("says from what to what", () => {
    const before = planOnGpus("before", { a: [0] });
    const after = planOnGpus("after", { a: [0], b: [1] });
    expect(diffPlans(before, after)).toContainEqual({ sign: "~", of: "plan", subject: "cascade", text: "a -> a then b" });
    expect(diffPlans(before, after)).toContainEqual({ sign: "+", of: "plan", subject: "threshold after a", text: "accept at 60 or more" });
  });

  it("moves a line for every setting of a policy, and none but its own", () => {
    const plan = planOnGpus("before", { a: [0], b: [1] });
    const { judge, directStart, ...policy } = plan.policy;
    const engine = { rubricTokens: 400, outputTokens: 20 };
    const routed: CascadePolicy["directStart"] = { below: [0], router: { kind: "modelled", auc: 0.85 } };
    const heads = [0, 1].map(() => ({ centre: 0, slope: 1 }));
    const byGain: CascadePolicy["cascadeRouting"] = {
      pointsPerGpuSecond: 2,
      gpuSeconds: [1, 4],
      heads,
      patterns: [0, 0, 0, 0],
      gates: [null],
    };
    // A setting that is added to the schema does not compile until it is added here.
    const changed: Record<Exclude<keyof CascadePolicy, "kind">, readonly (readonly [string, Partial<CascadePolicy>])[]> = {
      stages: [["~ cascade", { stages: [...policy.stages].reverse() }]],
      thresholds: [["~ threshold after a", { thresholds: [61] }]],
      judge: [
        ["~ judge", { judge: { ...judge, model: "other" } }],
        ["~ judge", { judge: { ...judge, secondsPerCall: 9 } }],
        ["~ judge", { judge: { ...judge, usdPerCall: 0.01 } }],
        ["~ judge", { judge: { ...judge, whenDown: "largest" } }],
        ["~ judge", { judge: { ...judge, engine } }],
      ],
      gates: [
        ["+ gate after a", { gates: [{ kind: "judge" }] }],
        ["- judge", { gates: [{ kind: "confidence", measure: "minimum" }] }],
      ],
      directStart: [["+ direct start", { directStart: { below: 2, router: { kind: "modelled", auc: 0.85 } } }]],
      cascadeRouting: [
        ["+ cascade routing", { directStart: routed, cascadeRouting: byGain }],
        ["+ fit of cascade routing", { directStart: routed, cascadeRouting: byGain }],
      ],
      order: [["~ order", { order: { kind: "stjf", agingThreshold: 100 } }]],
      place: [
        ["~ placement", { place: { kind: "round-robin" } }],
        ["~ placement", { place: { ...policy.place, affinity: { ratio: 0.5 } } }],
      ],
      learnt: [
        ["+ predictor of lengths", { learnt: { lengths: "1".repeat(64) } }],
        ["+ predictor of confidence", { learnt: { confidence: "2".repeat(64) } }],
      ],
      grace: [["+ grace", { grace: { waiting: 20, calm: 5, holdSeconds: 10, pointsPerSecond: 1 } }]],
      approvedRanges: [["~ approved range after a", { approvedRanges: { thresholds: [{ min: 0, max: 100 }] } }]],
    };
    for (const [line, change] of Object.values(changed).flat())
      expect(signs(diffPlans(plan, { ...plan, policy: { ...plan.policy, ...change } }))).toContain(line);
    const alike = { ...plan, policy: { ...plan.policy, thresholds: [61] } };
    expect(diffPlans(plan, alike).filter(({ sign }) => sign !== "=")).toHaveLength(1);
  });

  it("moves a line for every setting of a policy that chooses models just in time", () => {
    const plan = planOnGpus("before", { a: [0], b: [1] });
    const model = (name: string) => ({ model: name, cost: 8, saturationBatch: 2, throughput: [{ batch: 2, tokensPerSecond: 50 }] });
    const workflow = workflowDocumentSchema.parse({ name: "vote", agents: [{ name: "one" }, { name: "two", reads: ["one"] }] });
    const policy: JustInTimePolicy = {
      ...{ kind: "just-in-time", models: [model("a"), model("b")], workflows: [{ workflow }], selection: { kind: "beam", width: 4 } },
      ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
    };
    const [first, second] = workflow.agents as [WorkflowAgent, WorkflowAgent];
    const agents = (one: WorkflowAgent, two: WorkflowAgent) => ({ workflows: [{ workflow: { ...workflow, agents: [one, two] } }] });
    const price = { models: [{ model: "a", secondsPerToken: 0.002, waiting: 1.5 }], dampingSeconds: 5 };
    const changed: Record<Exclude<keyof JustInTimePolicy, "kind">, readonly (readonly [string, Partial<JustInTimePolicy>])[]> = {
      models: [
        ["~ models at dispatch", { models: [model("b"), model("a")] }],
        ["~ cost of a", { models: [{ ...model("a"), cost: 9 }, model("b")] }],
        ["~ saturation of b", { models: [model("a"), { ...model("b"), saturationBatch: 3 }] }],
        ["~ saturation of b", { models: [model("a"), { ...model("b"), endedBy: "memory" }] }],
        ["~ tokens/s of b", { models: [model("a"), { ...model("b"), throughput: [{ batch: 2, tokensPerSecond: 51 }] }] }],
        ["+ answers of b", { models: [model("a"), { ...model("b"), meanOutputTokens: 90 }] }],
      ],
      workflows: [
        ["- workflow vote", { workflows: [] }],
        ["~ workflow vote", { workflows: [{ workflow, predictor: "3".repeat(64) }] }],
        ["~ workflow vote", agents(first, { ...second, reads: [] })],
        ["~ workflow vote", agents(first, { ...second, models: ["a"] })],
        ["~ workflow vote", agents(first, { ...second, sameModelAs: "one" })],
        ["~ workflow vote", agents({ ...first, instructions: "Answer." }, second)],
        ["~ workflow vote", { workflows: [{ workflow, answers: [{ agent: "one", model: "a", rightIfAccurate: 0.8, rightIfNot: 0.3 }] }] }],
      ],
      selection: [
        ["~ selection", { selection: { kind: "beam", width: 1 } }],
        ["~ selection", { selection: { kind: "exhaustive" } }],
        ["~ selection", { selection: { kind: "fixed", configurations: { vote: { one: "a", two: "b" } } } }],
        ["~ selection", { selection: { kind: "cheapest" } }],
        ["~ selection", { selection: { kind: "quickest", when: "stage" } }],
        ["~ selection", { selection: { kind: "worth", rightSeconds: 5, delayWeight: 1 } }],
        ["~ selection", { selection: { kind: "worth", rightSeconds: 5, delayWeight: 1, price } }],
      ],
      callGates: [
        ["+ gate of agents' answers by a", { callGates: [{ model: "a", gate: { kind: "confidence", measure: "minimum" }, prior: 0.6 }] }],
      ],
      singles: [["+ single requests: fixed model", { singles: { kind: "fixed", model: "a" } }]],
      order: [["~ order", { order: { kind: "depth", agingThreshold: 9 } }]],
      place: [["~ placement", { place: { kind: "round-robin" } }]],
      learnt: [["+ predictor of lengths", { learnt: { lengths: "1".repeat(64) } }]],
    };
    const before = { ...plan, policy };
    const pricedBy = (own: object) => {
      const worth = { kind: "worth" as const, rightSeconds: 5, delayWeight: 1, price: { ...price, ...own } };
      return { ...plan, policy: { ...policy, selection: worth } };
    };
    for (const own of [{ dampingSeconds: 6 }, { models: [{ ...price.models[0]!, waiting: 3 }] }])
      expect(signs(diffPlans(pricedBy({}), pricedBy(own)))).toContain("~ selection");
    const told = diffPlans(null, { ...plan, policy: { ...policy, models: [{ ...model("a"), endedBy: "sequences" }, model("b")] } });
    const textOf = (of: string) => told.find(({ subject }) => subject === of)?.text;
    expect(["cost of a", "saturation of a", "saturation of b"].map(textOf)).toEqual([
      "8 G active parameters a token",
      "2 at once: it takes no more",
      "2 at once",
    ]);
    for (const [line, change] of Object.values(changed).flat()) {
      const lines = diffPlans(before, { ...plan, policy: { ...policy, ...change } });
      expect(signs(lines)).toContain(line);
      expect(lines.filter(({ sign }) => sign !== "=")).toHaveLength(1);
    }
  });

  it("says in words which order and placement another plan has", () => {
    const plan = planOnGpus("p", { a: [0], b: [1] });
    const kairos = { ...plan.policy, order: { kind: "workflow", agingThreshold: 9 }, place: { kind: "time-slots" } } as const;
    const lines = diffPlans(plan, { ...plan, policy: kairos }).filter(({ sign }) => sign !== "=");
    expect(lines.map(({ subject, text }) => `${subject}: ${text.split(" -> ")[1]}`)).toEqual([
      "order: agent whose programs end soonest first (Kairos), aging threshold 9",
      "placement: replica with the lowest peak of expected memory (Kairos)",
    ]);
  });

  it("tells settings within settings apart, and what is taken away", () => {
    const plan = planOnGpus("p", { a: [0], b: [1] });
    const under = (change: Partial<CascadePolicy>) => ({ ...plan, policy: { ...plan.policy, ...change } });
    const router = { kind: "modelled" as const, auc: 0.85 };
    const start = under({ directStart: { below: 2, router } });
    expect(signs(diffPlans(start, plan))).toContain("- direct start");
    expect(signs(diffPlans(start, under({ directStart: { below: 3, router } })))).toContain("~ direct start");
    expect(signs(diffPlans(start, under({ directStart: { below: 2, router: { ...router, auc: 0.9 } } })))).toContain("~ direct start");
    const aged = (agingThreshold: number) => under({ order: { kind: "mlfq", quantaSeconds: [1, 4], agingThreshold } });
    expect(signs(diffPlans(aged(10), aged(20)))).toContain("~ order");
    const sticky = (ratio: number) => under({ place: { kind: "least-load", affinity: { ratio } } });
    expect(diffPlans(sticky(0.5), sticky(1))).toContainEqual({
      sign: "~",
      of: "plan",
      subject: "placement",
      text: "least loaded replica, affinity ratio 0.5 -> least loaded replica, affinity ratio 1",
    });
    const judged = (outputTokens: number) => under({ judge: { ...plan.policy.judge, engine: { rubricTokens: 400, outputTokens } } });
    expect(signs(diffPlans(judged(20), judged(21)))).toContain("~ judge");
  });

  it("tells replicas apart by what they hold at once and by the GPUs they run on", () => {
    const plan = planOnGpus("p", { a: [0, 1] });
    const having = (change: object) => ({
      ...plan,
      deployment: plan.deployment.map((one) => ({ ...one, replicas: one.replicas.map((group) => ({ ...group, ...change })) })),
    });
    expect(diffPlans(plan, having({ maxInFlight: 32 }))).toContainEqual({
      sign: "~",
      of: "plan",
      subject: "a",
      text: "2 × tp 1 on 2 l40s -> 2 × tp 1 on 2 l40s; requests at once in each: 32",
    });
    expect(diffPlans(null, having({ gpu: "l4" }))[0]?.text).toBe("2 × tp 1 on l4, 2 GPUs");
  });

  it("tells where the topology is given which engines take requests, and nothing of those that neither plan needs", () => {
    const routed = (plan: ReturnType<typeof planOnGpus>, ...models: string[]) => {
      const thresholds = models.slice(1).map(() => 60);
      return { ...plan, policy: { ...plan.policy, stages: models.map((model) => ({ model })), thresholds } };
    };
    const attached = planOnGpus("attached", { a: [0], b: [1], c: [2] });
    const told = (...plans: [typeof attached | null, typeof attached]) =>
      diffPlans(...plans, "given").map(({ sign, subject, text }) => `${sign} ${subject}: ${text}`);
    const first = told(null, routed(attached, "a", "b"));
    expect(first.filter((line) => line.startsWith("+ b-"))).toEqual(["+ b-bf16-tp1-pp1-node1-1: takes requests"]);
    const next = told(routed(attached, "a", "b"), routed(attached, "a"));
    expect(next.filter((line) => line.includes("bf16"))).toEqual([
      "- b-bf16-tp1-pp1-node1-1: takes none, runs on",
      "= a-bf16-tp1-pp1-node1-0: takes requests as before",
    ]);
    expect([...first, ...next].filter((line) => /start|stop|^. c[-:]/.test(line))).toEqual([]);
    const judge = { ...attached.policy.judge, model: "c", engine: { rubricTokens: 400, outputTokens: 20 } };
    const judged = routed(attached, "a", "b");
    expect(told(null, { ...judged, policy: { ...judged.policy, judge } })).toContain("+ c-bf16-tp1-pp1-node1-2: takes requests");
  });

  it("has no judge for a model alone, which nobody judges", () => {
    const alone = planOnGpus("alone", { a: [0] });
    expect(diffPlans(null, alone).map(({ subject }) => subject)).not.toContain("judge");
    expect(signs(diffPlans(planOnGpus("two", { a: [0], b: [1] }), alone))).toContain("- judge");
  });

  it("says what a change of the kind of policy takes away and brings", () => {
    const cascade = planOnGpus("cascade", { a: [0], b: [1] });
    const models = ["a", "b"].map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 }));
    const policy = {
      ...{ kind: "slack" as const, models, tau: 0.5, deltaScore: 0.1, floorSeconds: 1 },
      order: { kind: "stjf" as const, agingThreshold: 50 },
      place: { kind: "lowest-kv" as const, affinity: { ratio: 0.5 } },
      approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
    };
    const lines = signs(diffPlans(cascade, { ...cascade, policy }));
    for (const line of [
      "- cascade",
      "- threshold after a",
      "- judge",
      "+ slack dispatch",
      "+ slack",
      "+ load of b",
      "~ order",
      "~ placement",
    ])
      expect(lines).toContain(line);
    expect(signs(diffPlans({ ...cascade, policy }, { ...cascade, policy: { ...policy, tau: 0.6 } }))).toContain("~ slack");
    const fitted = {
      ...policy,
      floorSeconds: 1.0119558264719433,
      models: models.map((one) => ({ ...one, decodeSecondsPerToken: 0.0454901044 })),
    };
    const texts = new Map(diffPlans(null, { ...cascade, policy: fitted }).map(({ subject, text }) => [subject, text]));
    expect(texts.get("slack")).toBe("τ 0.5, margin 0.1, floor 1.01 s");
    expect(texts.get("load of b")).toBe("confidence 0.5, 0.0455 s a token, 8 at once");
    expect(texts.get("order")).toBe("shortest program first (STJF), aging threshold 50");
    expect(texts.get("approved range of the margin")).toBe("0 to 1");
    const alone = { kind: "fixed" as const, model: "b", order: policy.order, place: policy.place };
    expect(signs(diffPlans({ ...cascade, policy }, { ...cascade, policy: alone }))).toContain("+ fixed model");
    const changing = signs(diffPlans({ ...cascade, policy }, { ...cascade, policy: { ...policy, changesModel: true as const } }));
    expect(changing).toContain("~ later requests of a program");
    const priced = { ...policy, price: { weight: 0.02, dampingSeconds: 30 } };
    expect(signs(diffPlans({ ...cascade, policy }, { ...cascade, policy: priced }))).toContain("+ price of capacity");
    const pricedTexts = new Map(diffPlans(null, { ...cascade, policy: priced }).map(({ subject, text }) => [subject, text]));
    expect(pricedTexts.get("price of capacity")).toMatch(/^a model counts 0\.02 less confident for each .* s of load, smoothed over 30 s$/);
    const balanced = { ...alone, kind: "balanced" as const, models: [{ model: "b", maxBatchSize: 8 }] };
    const balancing = signs(diffPlans({ ...cascade, policy: alone }, { ...cascade, policy: balanced }));
    for (const line of ["+ balancing", "+ batch of b", "- fixed model"]) expect(balancing).toContain(line);
  });

  it("adds everything where nothing runs", () => {
    const lines = diffPlans(null, planOnGpus("first", { a: [0] }));
    expect(new Set(lines.map((line) => line.sign))).toEqual(new Set(["+"]));
  });

  it("has nothing but equal lines for a plan and itself", () => {
    const plan = planOnGpus("same", { a: [0], b: [1] });
    expect(new Set(diffPlans(plan, plan).map((line) => line.sign))).toEqual(new Set(["="]));
  });
});

describe("planMismatch", () => {
  const cluster = { gpu: "l40s", nodes: [{ name: "node1", gpus: 2 }] };
  it("lets a plan pass that fits", () => {
    expect(planMismatch(cluster, planOnGpus("fits", { a: [0], b: [1] }))).toBeNull();
  });
  it.each([
    [{ ...cluster, gpu: "l4" }, planOnGpus("p", { a: [0] }), "The plan wants l40s for a; node1 has l4."],
    [{ ...cluster, nodes: [{ name: "other", gpus: 2 }] }, planOnGpus("p", { a: [0] }), /on node1, which this cluster does not have/],
    [cluster, planOnGpus("p", { a: [2] }), "The plan places a on GPU 2 of node1, which has 2."],
    [
      { ...cluster, nodes: [{ name: "node1", gpus: 2, othersGpus: 1 }] },
      planOnGpus("p", { a: [0], b: [1] }),
      "The plan wants 2 GPUs of node1; others use 1 of its 2.",
    ],
    [
      { ...cluster, nodes: [{ name: "node1", gpus: 2, closed: "is cordoned" }] },
      planOnGpus("p", { a: [0] }),
      "The plan places a on node1, which is cordoned: it takes no new engines.",
    ],
    [
      { ...cluster, nodes: [{ name: "node1", gpus: 2, heldGpus: [{ gpu: 1, by: "is held by a server" }] }] },
      planOnGpus("p", { a: [0], b: [1] }),
      "The plan places b on GPU 1 of node1, which is held by a server.",
    ],
    [cluster, planOnGpus("p", { a: [1], b: [1] }), "The plan gives GPU node1/1 to two engines."],
  ])("names the first thing that does not fit (%#)", (found, plan, sentence) => {
    expect(planMismatch(found, plan)).toMatch(sentence);
  });

  it("names the engine that is not among those attached where the topology is given", () => {
    const plan = planOnGpus("p", { a: [0], b: [1] });
    const attached = targetEngines(plan).map(({ precision: _, ...one }) => ({ ...one, url: "http://127.0.0.1:9", stopping: false }));
    expect(planMismatch({ ...cluster, topology: "given", engines: attached }, plan)).toBeNull();
    expect(planMismatch({ ...cluster, topology: "given", engines: attached.slice(0, 1) }, plan)).toBe(
      "The plan wants b in bf16 with tp 1, pp 1 on node1 GPU 1, which is not among the engines attached to this cluster: plan with the topology frozen.",
    );
    expect(planMismatch({ ...cluster, topology: "given", nodes: [], engines: [] }, plan)).toContain("plan with the topology frozen");
    expect(planMismatch({ ...cluster, engines: [] }, plan)).toBeNull();
  });
});

describe("engineId", () => {
  it("is the same for the same GPUs in any order, and differs by shape and precision", () => {
    const model = { model: "m", precision: "bf16" } as const;
    const on = (gpus: number[]) => engineId(model, { tp: 2, pp: 1 }, [{ node: "n1", gpus }]);
    expect(on([1, 0])).toBe(on([0, 1]));
    expect(on([0, 1])).toBe("m-bf16-tp2-pp1-n1-0-1");
    expect(engineId(model, { tp: 1, pp: 2 }, [{ node: "n1", gpus: [0, 1] }])).not.toBe(on([0, 1]));
    expect(engineId({ ...model, precision: "fp8" }, { tp: 2, pp: 1 }, [{ node: "n1", gpus: [0, 1] }])).not.toBe(on([0, 1]));
    expect(on([0, 3])).toBe("m-bf16-tp2-pp1-n1-0.3");
  });
});
