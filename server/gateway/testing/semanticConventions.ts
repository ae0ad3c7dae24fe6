// OpenTelemetry's semantic conventions as tests check them. Names and values of enumerations come from the registry's own package,
// `@opentelemetry/semantic-conventions` (Apache-2.0, its version is in package.json). Types, requirement levels and bucket boundaries,
// which the package lacks, follow the pages of the conventions for generative AI and for HTTP (status: development and stable).
import * as registry from "@opentelemetry/semantic-conventions/incubating";
import type { OtlpSpan, OtlpValue } from "./otlpProtobuf";

const constants = Object.entries<unknown>(registry).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []));
const namesOf = (prefix: string): ReadonlyMap<string, string> =>
  new Map(constants.filter(([name]) => name.startsWith(prefix)).map(([name, value]) => [value, name.slice(prefix.length)]));
const attributes = namesOf("ATTR_");
const metricNames = namesOf("METRIC_");

/** The listed values of an attribute; empty: it is no enumeration. */
function valuesOf(attribute: string): readonly string[] {
  const constant = attributes.get(attribute);
  return constants.filter(([name]) => name.startsWith(`${constant}_VALUE_`)).map(([, value]) => value);
}

/** The provider of one's own engines, and operations, which the lists of the conventions lack; they may be extended. */
const ownValues: Readonly<Record<string, readonly string[]>> = {
  "gen_ai.provider.name": ["weir"],
  "gen_ai.operation.name": ["rerank", "score"],
};

/** `error.type` lists one value and is otherwise free. */
const openEnumerations = ["error.type"];

/** Types of the attributes that Weir emits. */
const types: Readonly<Record<string, OtlpValue["type"]>> = {
  "error.type": "string",
  "gen_ai.conversation.id": "string",
  "gen_ai.embeddings.dimension.count": "int",
  "gen_ai.operation.name": "string",
  "gen_ai.output.type": "string",
  "gen_ai.provider.name": "string",
  "gen_ai.request.choice.count": "int",
  "gen_ai.request.encoding_formats": "string[]",
  "gen_ai.request.frequency_penalty": "double",
  "gen_ai.request.max_tokens": "int",
  "gen_ai.request.model": "string",
  "gen_ai.request.presence_penalty": "double",
  "gen_ai.request.seed": "int",
  "gen_ai.request.stop_sequences": "string[]",
  "gen_ai.request.stream": "boolean",
  "gen_ai.request.temperature": "double",
  "gen_ai.request.top_k": "double",
  "gen_ai.request.top_p": "double",
  "gen_ai.response.finish_reasons": "string[]",
  "gen_ai.response.model": "string",
  "gen_ai.response.time_to_first_chunk": "double",
  "gen_ai.token.type": "string",
  "gen_ai.usage.input_tokens": "int",
  "gen_ai.usage.output_tokens": "int",
  "http.request.method": "string",
  "http.response.status_code": "int",
  "http.route": "string",
  "server.address": "string",
  "server.port": "int",
  "url.path": "string",
  "url.scheme": "string",
};

const spanKinds = { internal: 1, server: 2, client: 3 } as const;

/** Required of every operation of generative AI; the model is required where it is known, and Weir always knows it. */
const ofOperations = ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"];
const ofServers = ["http.request.method", "http.response.status_code", "url.path", "url.scheme"];

function valueProblems(name: string, { type, value }: OtlpValue): readonly string[] {
  if (!attributes.has(name)) return [`${name} is no attribute of the conventions`];
  const expected = types[name];
  // A whole number of the type double is sent as an integer by the SDK for JavaScript, which has one type of numbers.
  if (type !== expected && !(expected === "double" && type === "int")) return [`${name} has the type ${type}, not ${expected ?? "known"}`];
  const listed = [...valuesOf(name), ...(ownValues[name] ?? [])];
  if (listed.length === 0 || openEnumerations.includes(name) || listed.includes(String(value))) return [];
  return [`${name} has the value ${String(value)}`];
}

/** Where a span departs from the conventions, in words; empty: nowhere. Attributes of `weir.` are Weir's own. */
export function spanProblems({ name, kind, failed, typed }: OtlpSpan): readonly string[] {
  const own = (attribute: string): boolean => attribute.startsWith("weir.");
  const has = (attribute: string): boolean => typed[attribute] !== undefined;
  const text = (attribute: string): string => String(typed[attribute]?.value);
  const problems = Object.entries(typed).flatMap(([attribute, value]) => (own(attribute) ? [] : valueProblems(attribute, value)));
  const need = (all: readonly string[]): void => void problems.push(...all.filter((one) => !has(one)).map((one) => `${one} is missing`));
  if (has("gen_ai.operation.name")) {
    need(ofOperations);
    if (name !== `${text("gen_ai.operation.name")} ${text("gen_ai.request.model")}`) problems.push("it has another name");
    if (kind !== spanKinds.client && kind !== spanKinds.server) problems.push("an operation is of a client or of a server");
  } else if (kind !== spanKinds.internal) problems.push("it is no operation, and not internal");
  if (kind === spanKinds.server) need(ofServers);
  if (has("server.address")) need(["server.port"]);
  const status = has("http.response.status_code") ? Number(text("http.response.status_code")) : null;
  // The error of a client is not an error of the server's span.
  const isError = status === null ? has("error.type") : status >= 500;
  if (failed !== isError) problems.push(`its status is ${failed ? "an error" : "no error"}`);
  if ((failed || (status ?? 0) >= 400) && !has("error.type")) problems.push("error.type is missing");
  return problems.map((problem) => `${name}: ${problem}`);
}

interface MetricConvention {
  /** What Prometheus appends for its unit. */
  readonly suffix: string;
  readonly buckets: readonly number[];
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const durations = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const optional = ["gen_ai.response.model", "server.address", "server.port"];
const metricConventions: Readonly<Record<string, MetricConvention>> = {
  "gen_ai.client.token.usage": {
    suffix: "",
    buckets: [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864],
    required: [...ofOperations, "gen_ai.token.type"],
    optional,
  },
  "gen_ai.client.operation.duration": {
    suffix: "_seconds",
    buckets: durations,
    required: ofOperations,
    optional: [...optional, "error.type"],
  },
  "gen_ai.server.request.duration": {
    suffix: "_seconds",
    buckets: durations,
    required: ofOperations,
    optional: [...optional, "error.type"],
  },
  "gen_ai.server.time_per_output_token": {
    suffix: "_seconds",
    buckets: [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
    required: ofOperations,
    optional,
  },
  "gen_ai.server.time_to_first_token": {
    suffix: "_seconds",
    buckets: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    required: ofOperations,
    optional,
  },
};

const inPrometheus = (name: string): string => name.replaceAll(".", "_");

/** One line of an exposition. */
interface SampleLine {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The names of the metrics of the conventions, as Prometheus writes them. */
export const conventionalMetrics: readonly string[] = Object.entries(metricConventions).map(
  ([name, { suffix }]) => `${inPrometheus(name)}${suffix}`,
);

/** Where the metrics `gen_ai_…` of an exposition depart from the conventions, in words. */
export function metricProblems(text: string): readonly string[] {
  const types = new Map([...text.matchAll(/^# TYPE (gen_ai_\S+) (\w+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const lines = samplesOf(text).filter(({ name }) => name.startsWith("gen_ai_"));
  const problems: string[] = [];
  for (const [name, type] of types) {
    const known = Object.entries(metricConventions).find(([key, { suffix }]) => `${inPrometheus(key)}${suffix}` === name);
    if (known === undefined || !metricNames.has(known[0])) problems.push(`${name} is no metric of the conventions`);
    else if (type !== "histogram") problems.push(`${name} is a ${type}`);
    else problems.push(...seriesProblems(name, { convention: known[1], lines }));
  }
  const stray = lines.filter(({ name }) => ![...types.keys()].some((one) => name.startsWith(one)));
  return [...problems, ...stray.map(({ name }) => `${name} has no type`)];
}

function seriesProblems(name: string, { convention, lines }: { convention: MetricConvention; lines: readonly SampleLine[] }): string[] {
  const { required, optional: allowed, buckets } = convention;
  const known = new Map([...required, ...allowed].map((attribute) => [inPrometheus(attribute), attribute]));
  const problems: string[] = [];
  const series = new Map<string, SampleLine[]>();
  for (const line of lines.filter((one) => one.name === `${name}_bucket`)) {
    const { le: _, ...labels } = line.labels;
    const key = JSON.stringify(labels);
    series.set(key, [...(series.get(key) ?? []), line]);
    for (const [label, value] of Object.entries(labels)) {
      const attribute = known.get(label);
      if (attribute === undefined) problems.push(`${name} has the label ${label}`);
      else problems.push(...valueProblems(attribute, { type: types[attribute] ?? "string", value } as OtlpValue));
    }
    for (const attribute of required) if (!labels[inPrometheus(attribute)]) problems.push(`${name} lacks ${attribute}`);
  }
  for (const [key, of] of series) {
    const edges = of.map(({ labels }) => labels.le);
    if (edges.join() !== [...buckets, "+Inf"].join()) problems.push(`${name}${key} has the buckets ${edges.join()}`);
    if (of.some(({ value }, at) => value < (of[at - 1]?.value ?? 0))) problems.push(`${name}${key} is not cumulative`);
    const count = lines.find((one) => one.name === `${name}_count` && JSON.stringify(one.labels) === key)?.value;
    if (count !== of.at(-1)?.value) problems.push(`${name}${key} counts ${count}`);
    if (!lines.some((one) => one.name === `${name}_sum` && JSON.stringify(one.labels) === key)) problems.push(`${name}${key} has no sum`);
  }
  return [...new Set(problems)];
}

/** The lines of an exposition with labels read. */
export function samplesOf(text: string): readonly SampleLine[] {
  return text.split("\n").flatMap((line) => {
    const [, name, inside = "", value] = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const labels = Object.fromEntries([...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", text = ""]) => [label, text]));
    return [{ name, labels, value: Number(value) }];
  });
}
