import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { planOnGpus } from "@/server/clusters/testing/testCluster";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { connectionSchema, type RayConnectionInput } from "./connection";
import { engineApplication } from "./engineApplication";
import { exportServeConfig } from "./exportServeConfig";
import { applicationName, nodeNamed } from "./names";
import { models, orderOn } from "./testing/testRay";

const connection = (change: Partial<RayConnectionInput> = {}) =>
  connectionSchema.parse({ kind: "ray", dashboard: "http://ray.example.com:8265", models, ...change });

function made(engine: EngineOrder, change: Partial<RayConnectionInput> = {}) {
  const application = engineApplication(engine, connection(change), "lab");
  if (!application.ok) throw new Error(application.message);
  return application.value;
}

describe("an engine's application", () => {
  it("is one of Ray Serve LLM that loads the model under its card's name on the GPUs of its node", () => {
    const engine = orderOn("10.0.0.1", [0, 1]);
    const { name, ...rest } = made(engine, {
      models: { "qwen2.5-3b": { source: "Qwen/Qwen2.5-3B", engineKwargs: { max_model_len: 8192 } } },
    });
    const bundle = { GPU: 1, "node:10.0.0.1": 0.001 };
    expect(rest).toEqual({
      route_prefix: `/${name}`,
      import_path: "ray.serve.llm:build_openai_app",
      runtime_env: { env_vars: { WEIR_ENGINE: JSON.stringify({ cluster: "lab", engine }) } },
      args: {
        llm_configs: [
          {
            model_loading_config: { model_id: "qwen2.5-3b", model_source: "Qwen/Qwen2.5-3B" },
            accelerator_type: "L40S",
            engine_kwargs: { dtype: "bfloat16", max_model_len: 8192, tensor_parallel_size: 2, pipeline_parallel_size: 1 },
            placement_group_config: { bundles: [bundle, bundle], strategy: "PACK" },
            deployment_config: { num_replicas: 1 },
          },
        ],
      },
    });
  });

  it("of several nodes has a bundle for each GPU, in the order of the placements", () => {
    const placements = ["a", "b"].map((node) => ({ node, gpus: [0, 1] }));
    const { args } = made({ ...orderOn("a", [0, 1]), pp: 2, placements }, { nodeResource: "host-{node}", gpu: "l40s" });
    const [config] = args.llm_configs as unknown as [{ placement_group_config: { bundles: object[] }; accelerator_type?: string }];
    expect(config.placement_group_config.bundles).toEqual([
      { GPU: 1, "host-a": 0.001 },
      { GPU: 1, "host-a": 0.001 },
      { GPU: 1, "host-b": 0.001 },
      { GPU: 1, "host-b": 0.001 },
    ]);
    expect(config.accelerator_type).toBeUndefined();
  });

  it("of the operator's own import path gets the operator's arguments, filled in", () => {
    const args = { name: "{model} of {source}", shape: { tp: "{tp}", gpus: ["{gpus}", "{nodeResource}"] }, other: "{nobody}", on: true };
    const { import_path, args: filled } = made(orderOn("n1", [0, 3]), { importPath: "mine.app:build", args });
    expect(import_path).toBe("mine.app:build");
    expect(filled).toEqual({
      name: "qwen2.5-3b of Qwen/Qwen2.5-3B-Instruct",
      shape: { tp: 2, gpus: [2, "node:n1"] },
      other: "{nobody}",
      on: true,
    });
  });
});

describe("a connection", () => {
  it.each([
    ["runtimeEnv", { runtimeEnv: { env_vars: { HF_TOKEN: "abc" } } }],
    ["runtimeEnv", { runtimeEnv: { env_vars: { HF_HOME: "hf_abcdefghijklmnop" } } }],
    ["models", { models: { m: { source: "s", engineKwargs: { hf_token: "sk-0123456789abcdef" } } } }],
    ["args", { args: { deep: [{ api_key: "x" }] } }],
    ["dashboard", { dashboard: "http://ray/behind/a/path" }],
    ["nodeResource", { nodeResource: "all" }],
    ["importPath", { importPath: "no path" }],
    ["key", { key: { environment: "WEIR_ADMIN_TOKEN" } }],
  ])("is refused with a key or a pattern in it that cannot be: %s", (field, change) => {
    const parsed = connectionSchema.safeParse({ kind: "ray", dashboard: "http://ray:8265", models, ...change });
    expect(parsed.success).toBe(false);
    expect(parsed.error?.issues.map(({ path }) => path[0])).toEqual([field]);
    expect(JSON.stringify(parsed.error?.issues)).not.toMatch(/abcdefgh|0123456789/);
  });
});

describe("names", () => {
  it("are applications' own: two engines or clusters never share one", () => {
    expect(applicationName("lab", "qwen2.5-3b-bf16-tp1-pp1-n1-0")).toBe("weir-lab-qwen2.5-3b-bf16-tp1-pp1-n1-0");
    const long = "x".repeat(200);
    const names = [
      applicationName("a b", "c"),
      applicationName("a#b", "c"),
      applicationName("lab", long),
      applicationName("lab", `${long}y`),
    ];
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^weir-[A-Za-z0-9._-]{1,115}$/);
  });

  it("of nodes are read from a resource that only they have", () => {
    expect(nodeNamed("node:10.0.0.1", "node:{node}")).toBe("10.0.0.1");
    expect(nodeNamed("node:__internal_head__", "node:{node}")).toBeNull();
    expect(nodeNamed("rack7-host", "rack{node}-host")).toBe("7");
    expect(nodeNamed("GPU", "node:{node}")).toBeNull();
  });
});

describe("an export", () => {
  const plan = planOnGpus("two", { "qwen2.5-3b": [0, 1], "qwen2.5-7b": [2] });

  it("lists the very applications that applying the plan makes, and warns of those that are not listed", () => {
    const exported = exportServeConfig(plan, connection({ http: { host: "0.0.0.0", port: 8000 } }), "lab");
    const text = exported.ok ? exported.value : "";
    expect(text).toMatch(/^# Ray removes every application that is not listed/m);
    const applications = targetEngines(plan).map((engine) => made(engine));
    expect(parse(text)).toEqual({ http_options: { host: "0.0.0.0", port: 8000 }, applications });
  });

  it("is refused where the connection does not say what to load", () => {
    const exported = exportServeConfig(plan, connection({ models: {} }), "lab");
    expect(exported).toEqual({
      ok: false,
      message: "The connection does not say what to load for qwen2.5-3b: it is not among its models.",
    });
  });
});
