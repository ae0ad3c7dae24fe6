import type { Answer } from "@/server/clusters/connector/connector";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { knownAccelerators, type RayConnection } from "./connection";
import { applicationName, nodeResourceOf } from "./names";
import { orderVariable } from "./serveState";

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** One application of Ray Serve, as a PUT lists it. Schema: Ray's `ServeApplicationSchema`. */
export interface EngineApplication {
  readonly name: string;
  readonly route_prefix: string;
  readonly import_path: string;
  readonly runtime_env: { readonly [name: string]: Json };
  readonly args: { readonly [name: string]: Json };
}

/** Binds a bundle to its node: the smallest amount of the node's resource that Ray can count. */
const aTouch = 0.001;

/**
 * The application of one engine, which keeps the whole order in its environment; a sentence if the connection does not define the weights.
 */
export function engineApplication(engine: EngineOrder, connection: RayConnection, clusterId: string): Answer<EngineApplication> {
  const model = Object.hasOwn(connection.models, engine.model) ? connection.models[engine.model] : undefined;
  if (model === undefined)
    return { ok: false, message: `The connection does not say what to load for ${engine.model}: it is not among its models.` };
  const name = applicationName(clusterId, engine.id);
  const runtime = connection.runtimeEnv as { readonly [name: string]: Json };
  const variables = { ...(runtime.env_vars as object | undefined), [orderVariable]: JSON.stringify({ cluster: clusterId, engine }) };
  const args =
    connection.args === undefined
      ? llmArgs(engine, connection, model)
      : filled(connection.args as Json, valuesOf(engine, connection, model.source));
  return {
    ok: true,
    value: {
      name,
      route_prefix: `/${name}`,
      import_path: connection.importPath,
      runtime_env: { ...runtime, env_vars: variables },
      args: args as EngineApplication["args"],
    },
  };
}

/**
 * The arguments of Ray Serve LLM. The GPUs are one bundle each with a minimal amount of their node's resource, in the order of the
 * placements; Ray chooses which of a node's GPUs they are. Source: Ray's page "Configuration reference" of Serve LLM.
 */
function llmArgs(engine: EngineOrder, connection: RayConnection, { source, engineKwargs }: RayConnection["models"][string]): Json {
  const bundles = engine.placements.flatMap(({ node, gpus }) =>
    gpus.map(() => ({ GPU: 1, [nodeResourceOf(node, connection.nodeResource)]: aTouch })),
  );
  const accelerator = acceleratorOf(engine.gpu, connection);
  const config = {
    model_loading_config: { model_id: engine.model, model_source: source },
    ...(accelerator === null ? {} : { accelerator_type: accelerator }),
    engine_kwargs: {
      // Quantised weights state their own format.
      ...(engine.precision === "bf16" ? { dtype: "bfloat16" } : {}),
      ...(engineKwargs as { readonly [name: string]: Json }),
      tensor_parallel_size: engine.tp,
      pipeline_parallel_size: engine.pp,
    },
    placement_group_config: { bundles, strategy: "PACK" },
    deployment_config: { num_replicas: 1 },
  };
  return { llm_configs: [config] };
}

/** Ray's accelerator type of a card; null if nodes do not report their GPUs' type, so that a request for one would find none. */
function acceleratorOf(card: string, { gpu, accelerators }: RayConnection): string | null {
  if (gpu === card) return null;
  const types = Object.entries({ ...knownAccelerators, ...accelerators });
  return types.find(([, one]) => one === card)?.[0] ?? null;
}

function valuesOf(engine: EngineOrder, { nodeResource }: RayConnection, source: string): Readonly<Record<string, string | number>> {
  const { id, model, precision, tp, pp, placements } = engine;
  const node = placements[0]?.node ?? "";
  const gpus = placements.reduce((sum, one) => sum + one.gpus.length, 0);
  return { id, model, source, precision, tp, pp, gpus, node, nodeResource: nodeResourceOf(node, nodeResource) };
}

/** A template with its braces filled; a string that consists only of a number's placeholder becomes the number. */
function filled(template: Json, values: Readonly<Record<string, string | number>>): Json {
  if (typeof template === "string") {
    const whole = /^\{(\w+)\}$/.exec(template)?.[1];
    if (whole !== undefined && Object.hasOwn(values, whole)) return values[whole] ?? "";
    return template.replace(/\{(\w+)\}/g, (brace, name: string) => (Object.hasOwn(values, name) ? `${values[name]}` : brace));
  }
  if (Array.isArray(template)) return template.map((one: Json) => filled(one, values));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, one]) => [name, filled(one as Json, values)]));
}
