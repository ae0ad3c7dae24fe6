import { z } from "zod";
import type { Finding } from "@/server/contracts/studio";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { engineVersion, versionPaths } from "@/server/engines/engineVersion";
import { settingsPaths } from "@/server/engines/priorityUse";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { weightFormats } from "@/solver/hardware/aliases";
import { cardOf } from "@/solver/hardware/catalogue";
import type { EngineLimits } from "@/solver/hardware/engineLimits";
import type { Precision } from "@/solver/hardware/modelCard";
import { type EndpointAnswer, jsonOf } from "../engineClient/askEndpoint";
import type { ServedModel } from "../engineClient/checkEndpoint";
import { ok, warn } from "../engineClient/finding";
import { llamaFindings, readLlamaProps } from "./llamaServer";
import { type Ollama, ollamaFindings, readOllama } from "./ollama";
import { reportedLimits } from "./reportedLimits";

export interface EngineFacts {
  /** null: not of a known type. */
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** Figures that its metrics do not have, by Weir's names. */
  readonly absent: readonly string[];
  /** If the engine reports them. */
  readonly shape: { readonly tp: number; readonly pp: number } | null;
  readonly precision: Precision | null;
  /** Its start limits; null: it reports none. */
  readonly limits: EngineLimits | null;
}

/** Paths of engines' metrics; the second is used by trtllm-serve, whose `/metrics` is other text. */
const metricsPaths = ["/metrics", "/prometheus/metrics"] as const;

/** Figures without which telemetry is of little use. */
const wanted = ["running", "waiting", "kvUse"] as const;

/** SGLang's answer to `/server_info`: its arguments, flat among other fields. */
const sglangSchema = z.object({
  tp_size: z.int().positive(),
  pp_size: z.int().positive().default(1),
  dtype: z.string().nullish(),
  quantization: z.string().nullish(),
});

/** What is known of an endpoint's models. */
interface AskedModel {
  readonly served: readonly ServedModel[];
  /** Its name of the model that is to be attached; undefined: not chosen among several. */
  readonly asked: string | undefined;
}

type Ask = (path: string) => Promise<EndpointAnswer>;

/** The kind of engine, by its metrics and its own statements, and what is missing in its telemetry. */
export async function recogniseEngine(
  ask: Ask,
  { served, asked }: AskedModel,
): Promise<EngineFacts & { readonly findings: readonly Finding[] }> {
  const [pages, expositions, settings] = await Promise.all([
    Promise.all(versionPaths.map(async (path) => [path, await ask(path)] as const)),
    Promise.all(metricsPaths.map(ask)),
    ask(settingsPaths[0]),
  ]);
  const told = new Map(pages.map(([path, answer]) => [path, answer]));
  const version =
    pages
      .map(([, answer]) => (answer.kind === "answered" && answer.status === 200 ? engineVersion(answer.text) : null))
      .find((one) => one !== null) ?? null;
  const info = [told.get("/server_info"), told.get("/get_server_info")]
    .map((answer) => sglangSchema.safeParse(answer === undefined ? undefined : jsonOf(answer)))
    .find(({ success }) => success)?.data;
  const props = told.get("/props");
  const llama = props === undefined ? null : readLlamaProps(jsonOf(props));
  const isLlama = llama !== null || (props?.kind === "answered" && props.server === "llama.cpp");
  const ollama = await askOllama(ask, told.get("/api/version"));

  const readings = expositions.flatMap((answer) => {
    if (answer.kind !== "answered" || answer.status !== 200) return [];
    const metrics = parsePromText(answer.text);
    const mapping = chooseMapping(metrics, version);
    return mapping === undefined ? [] : [{ mapping, canonicalMetrics: readCanonicalMetrics(metrics, mapping) }];
  });
  const read = readings[0];
  const type = read?.mapping.engine ?? (info !== undefined ? "sglang" : isLlama ? "llama.cpp" : ollama !== null ? "ollama" : null);
  const absent =
    read === undefined ? [] : Object.entries(read.canonicalMetrics).flatMap(([name, { state }]) => (state === "value" ? [] : [name]));
  const facts: EngineFacts = {
    engine: type === null ? null : { type, version },
    absent,
    shape: info === undefined ? null : { tp: info.tp_size, pp: info.pp_size },
    precision:
      info !== undefined ? precisionOf(info) : ((llama?.role === "server" ? llama.precision : ollama?.precisions.get(asked ?? "")) ?? null),
    limits: reportedLimits([settings, ...pages.map(([, answer]) => answer)].map(jsonOf)),
  };
  return {
    ...facts,
    findings: [
      engineFinding(facts),
      ...(llama === null ? [] : llamaFindings(llama, served)),
      ...(ollama === null ? [] : ollamaFindings(ollama, asked)),
      metricsFinding(facts, { read: read !== undefined, router: llama?.role === "router" }),
    ],
  };
}

/** null if it is not Ollama: only it answers under `/api/version` with a version. */
async function askOllama(ask: Ask, version: EndpointAnswer | undefined): Promise<Ollama | null> {
  if (version?.kind !== "answered" || version.status !== 200 || engineVersion(version.text) === null) return null;
  const [running, stored] = await Promise.all([ask("/api/ps"), ask("/api/tags")]);
  return readOllama({ running: jsonOf(running), stored: jsonOf(stored) });
}

function precisionOf({ dtype, quantization }: z.output<typeof sglangSchema>): Precision | null {
  return cardOf(weightFormats, (quantization ?? dtype ?? "").toLowerCase()) ?? null;
}

function engineFinding({ engine }: EngineFacts): Finding {
  if (engine === null)
    return warn("engine", "The engine type is unknown.", "It can be used all the same; the gateway uses its own counts.");
  return ok("engine", `It is ${engine.type}${engine.version === null ? ", unknown version" : ` ${engine.version}`}.`);
}

/** The flag with which each engine exports its metrics. */
const metricsFlags: Readonly<Record<string, string>> = { sglang: "--enable-metrics", "llama.cpp": "--metrics" };

/** What is unknown of an engine without metrics that can be read. */
const unknown = "so its queue, its cache and its own latencies are unknown, and only the gateway's own counts are there";

function metricsFinding({ engine, absent }: EngineFacts, { read, router }: { readonly read: boolean; readonly router: boolean }): Finding {
  if (engine?.type === "ollama") return warn("metrics", `Ollama has no metrics, ${unknown}.`, null);
  if (router && !read) return warn("metrics", `A router has metrics of each of its models and none of its own, ${unknown}.`, null);
  if (!read) {
    const flag = engine === null ? undefined : metricsFlags[engine.type];
    return warn("metrics", `It shows no metrics that can be read, ${unknown}.`, flag === undefined ? null : `Start it with ${flag}.`);
  }
  const missing = absent.filter((name) => wanted.some((one) => one === name));
  if (missing.length > 0)
    return warn("metrics", `Its metrics lack ${missing.join(", ")}.`, "Policies that go by these fall back on the gateway's own counts.");
  return ok("metrics", absent.length === 0 ? "Its metrics have every figure." : `Its metrics lack only ${absent.join(", ")}.`);
}
