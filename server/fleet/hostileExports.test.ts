import fc from "fast-check";
import { expect, it, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { planOnGpus } from "@/server/clusters/testing/testCluster";
import { planHashes } from "@/server/contracts/gateway/planHash";
import { readPlan } from "@/server/planning/planner/readPlan";
import { hostileName, isNoArgument } from "@/server/testing/hostileNames";
import { clusterSpecSchema } from "@/solver/plan/clusterSpec";
import type { Plan } from "@/solver/plan/plan";
import { machineName, title } from "@/solver/wording/names";
import { shellQuoted } from "@/solver/wording/shellText";
import { clusterConnectionSchema } from "./connection";
import { readConnectionText } from "./connectionText";
import { exported, manifestFaults, serveFaults } from "./testing/hostileExports";
import { hostilePlan, namesPerEngine } from "./testing/hostilePlan";

const namesOf = (most: number) => fc.array(hostileName, { minLength: namesPerEngine, maxLength: namesPerEngine * most });

const privilegedPod =
  "x\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{securityContext: {privileged: true}}]}\n---\n#";

/** A plan of one engine with a name in each place, sealed over it. */
function sealed(change: { readonly name?: string; readonly model?: string; readonly node?: string; readonly gpu?: string }): Plan {
  const plan = structuredClone(planOnGpus("plain", { "qwen2.5-3b": [0] })) as Plan;
  const { name = "plain", model = "qwen2.5-3b", node = "node1", gpu = "l40s" } = change;
  const deployment = plan.deployment.map((one) => ({
    ...{ ...one, model, gpu },
    replicas: one.replicas.map((group) => ({ ...group, placements: [[{ node, gpus: [0] }]] })),
  }));
  const changed = {
    ...plan,
    metadata: { ...plan.metadata, name },
    deployment,
    policy: { ...plan.policy, stages: [{ model }] } as Plan["policy"],
  };
  return { ...changed, ...planHashes(changed) };
}

test("manifests of any names are exactly the objects that were meant, for readers of YAML 1.1 and 1.2", () => {
  fc.assert(
    fc.property(namesOf(2), fc.constantFrom("1.1" as const, "1.2" as const), (all, version) => {
      expect(manifestFaults(hostilePlan(all), version)).toEqual([]);
    }),
  );
});

test("Serve configurations of any names are exactly the applications that were meant, for readers of YAML 1.1 and 1.2", () => {
  fc.assert(
    fc.property(namesOf(2), fc.constantFrom("1.1" as const, "1.2" as const), (all, version) => {
      expect(serveFaults(hostilePlan(all), version)).toEqual([]);
    }),
  );
});

test("names that mean something to YAML or to JavaScript come back as names", () => {
  const odd = ["<<", "=", "y", "1:30", "__proto__", "constructor", "no", "~", "0o7", ".inf", "2026-01-01", "- x", "? ", "a\u2028b: c"];
  for (const name of odd) {
    const hostile = hostilePlan(Array.from({ length: namesPerEngine }, () => name));
    const own = { ...hostile, plan: { ...hostile.plan, deployment: hostile.plan.deployment.map((one) => ({ ...one, model: name })) } };
    const config = { ...own.ray, models: Object.fromEntries([[name, { source: name, engineKwargs: {} }]]), nodeResource: "{node}" };
    const read = parse(exported(own, config, "ray"), { version: "1.1" });
    expect(read.applications[0].args.llm_configs[0]).toMatchObject({
      model_loading_config: { model_id: name, model_source: name },
      placement_group_config: { bundles: [{ GPU: 1, [name]: 0.001 }] },
    });
  }
});

it("keeps a plan's name to its comment: a line break adds no object to manifests and no application to a Serve configuration", () => {
  const hostile = hostilePlan(["m", "node1", "l40s", "s", "a", "b", "c", "d", "e", "f"]);
  const named = { ...hostile, plan: { ...hostile.plan, metadata: { ...hostile.plan.metadata, name: privilegedPod } } };
  const kinds = parseAllDocuments(exported(named, hostile.kubernetes, "kubernetes")).map((one) => (one.toJS() as { kind?: string }).kind);
  expect(kinds).not.toContain("Pod");
  const config = parse(
    exported(
      { ...named, plan: { ...named.plan, metadata: { ...named.plan.metadata, name: "x\nhttp_options: {host: 0.0.0.0}\n#" } } },
      hostile.ray,
      "ray",
    ),
  );
  expect(Object.keys(config)).toEqual(["applications"]);
});

it("writes no line separator that a reader of YAML 1.1 takes for the end of a comment or a text", () => {
  const separated = ["a\u2028kind: Pod", "a\u2029kind: Pod", "a\u0085kind: Pod"];
  for (const name of separated) {
    const hostile = hostilePlan(Array.from({ length: namesPerEngine }, () => name));
    for (const text of [exported(hostile, hostile.kubernetes, "kubernetes"), exported(hostile, hostile.ray, "ray")])
      expect(text.split(/[\n\u0085\u2028\u2029]/).filter((line) => line.startsWith("kind: Pod"))).toEqual([]);
  }
});

it("reads no plan whose name, models, nodes or GPU types are no names, and says so in one sentence", () => {
  expect(readPlan(sealed({}))).toMatchObject({ ok: true });
  expect(
    readPlan(sealed({ name: "Nachts · 2 × L40S, größere Stufe", model: "meta-llama/Llama-3.1-8B", node: "gpu-1.example.com" })),
  ).toMatchObject({
    ok: true,
  });
  const hostile = "x\ntouch pwned";
  const refused = [
    { name: hostile },
    { name: privilegedPod },
    { model: hostile },
    { model: "--config=/etc/passwd" },
    { node: hostile },
    { gpu: "$(id)" },
  ];
  for (const change of refused) {
    const read = readPlan(sealed(change));
    expect(read).toMatchObject({ ok: false, message: expect.stringMatching(/^This is not a plan\. [\w.]+: must be [^\n]+\.$/) });
  }
});

it("takes no connection or cluster with such names", () => {
  const processes = (change: object) => ({ kind: "processes", models: { "qwen2.5-3b": { source: "Qwen/Qwen2.5-3B" } }, ...change });
  expect(clusterConnectionSchema.safeParse(processes({})).success).toBe(true);
  for (const change of [
    { models: { "a\nb": { source: "s" } } },
    { models: { a: { source: "--trust-remote-code" } } },
    { models: { a: { source: "s\nt" } } },
    { models: { a: { source: "s", args: ["a\0b"] } } },
    { node: "n\ntouch pwned" },
    { environment: { "A=1\ntouch pwned": { value: "x" } } },
  ])
    expect(clusterConnectionSchema.safeParse(processes(change)).success).toBe(false);
  const text = JSON.stringify({ kind: "ray", dashboard: "http://ray:8265", models: { "a\nb": { source: "s" } } });
  expect(readConnectionText(text)).toMatchObject({
    ok: false,
    faults: [{ sentence: expect.stringMatching(/^Line 1: models\.a\\u\{a\}b: Must be a name: [^\n]+\.$/) }],
  });
  const spec = { id: "lab", name: "Our lab (2)", kind: "described", gpu: "l40s", nodes: [{ name: "n1", gpus: 1 }], usdPerGpuHour: 1 };
  expect(clusterSpecSchema.safeParse(spec).success).toBe(true);
  expect(clusterSpecSchema.safeParse({ ...spec, nodes: [{ name: "n1\n- evil", gpus: 1 }] }).success).toBe(false);
});

test("a name that the schema takes is a word of a shell as it is, and never a flag", () => {
  fc.assert(
    fc.property(fc.oneof(hostileName, fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,20}$/)), (name) => {
      if (machineName.safeParse(name).success) {
        expect(shellQuoted(name)).toBe(name);
        expect(name).not.toMatch(/^-/);
      }
      if (title.safeParse(name).success) expect(name.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(1);
      if (isNoArgument(name)) expect(() => shellQuoted(name)).toThrow(RangeError);
    }),
    { numRuns: 2000 },
  );
});
