import { z } from "zod";
import { engineRequestSchema } from "@/server/contracts/engine/emulatorAdmin";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { rawMembers } from "@/server/lib/rawJson";
import { applicationName } from "./names";
import type { RayRead } from "./rayApi";

/** The environment variable in which an engine's application keeps its order; Ray stores it and reports it. */
export const orderVariable = "WEIR_ENGINE";

const ownerSchema = z.object({
  cluster: z.string(),
  engine: engineRequestSchema.extend({ precision: z.enum(["bf16", "fp8", "int4"]) }),
});

const applicationSchema = z.object({
  status: z.string(),
  message: z.string().default(""),
  /** Absent in older Rays. */
  source: z.string().optional(),
  route_prefix: z.string().nullish(),
  deployed_app_config: z
    .looseObject({
      import_path: z.string().optional(),
      runtime_env: z.looseObject({ env_vars: z.record(z.string(), z.unknown()).optional() }).nullish(),
    })
    .nullish(),
  deployments: z.record(z.string(), z.object({ status: z.string(), message: z.string().default("") })).default({}),
});

const detailsSchema = z.object({
  http_options: z.object({ port: z.int() }).nullish(),
  applications: z.record(z.string(), applicationSchema),
});

export interface ServeApplication {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly routePrefix: string | null;
  readonly importPath: string | null;
  readonly deployments: readonly { readonly name: string; readonly status: string; readonly message: string }[];
  /** Created by Ray's Python API: a PUT neither lists nor removes it. */
  readonly imperative: boolean;
  /** Its configuration as Ray wrote it; null if Ray shows none. */
  readonly config: string | null;
  /** Ray has redacted the values of its environment. */
  readonly hidden: boolean;
  /** For one of Weir's engines; null for any other. */
  readonly owner: { readonly cluster: string; readonly engine: EngineOrder } | null;
}

export interface ServeState {
  readonly applications: readonly ServeApplication[];
  /** Port of Serve's proxies; null if Serve does not run. */
  readonly httpPort: number | null;
  /** The other settings of a PUT, as Ray wrote them, by name. */
  readonly settings: readonly (readonly [string, string])[];
}

/** A PUT without the capacity resets it; the others are needed if Serve ends meanwhile and is restarted. */
const carriedSettings = ["target_capacity", "proxy_location", "http_options", "grpc_options"];

/** Ray's text for redacted values (`ray/dashboard/runtime_env_redaction.py`). */
const hiddenValue = "<redacted>";

/** Reads `GET /api/serve/applications/`. Schema: Ray's `ServeInstanceDetails`. */
export function readServeState(answer: RayRead<string>): RayRead<ServeState> {
  if (!answer.ok) return answer;
  const unreadable = {
    ok: false,
    message: "The state of Serve applications cannot be read: check that the address is that of Ray's dashboard.",
    refused: true,
  } as const;
  let details: z.infer<typeof detailsSchema>;
  try {
    details = detailsSchema.parse(JSON.parse(answer.value));
  } catch {
    return unreadable;
  }
  const raw = rawMembers(answer.value);
  const rawApplications = rawMembers(raw.get("applications") ?? "{}");
  const applications = Object.entries(details.applications).map(([name, found]): ServeApplication => {
    const config = found.deployed_app_config ?? null;
    const variables = config?.runtime_env?.env_vars ?? {};
    return {
      name,
      status: found.status,
      message: found.message,
      routePrefix: found.route_prefix ?? null,
      importPath: config?.import_path ?? null,
      deployments: Object.entries(found.deployments).map(([deployment, { status, message }]) => ({ name: deployment, status, message })),
      imperative: found.source === "imperative",
      config: config === null ? null : (rawMembers(rawApplications.get(name) ?? "{}").get("deployed_app_config") ?? null),
      hidden: config !== null && hides(config),
      owner: readOwner(name, variables[orderVariable]),
    };
  });
  const settings = carriedSettings.flatMap((name) => {
    const value = raw.get(name);
    return value === undefined || value === "null" ? [] : [[name, value] as const];
  });
  return { ok: true, value: { applications, httpPort: details.http_options?.port ?? null, settings } };
}

/** A copy of an engine's application under another name is not Weir's. */
function readOwner(name: string, text: unknown): ServeApplication["owner"] {
  try {
    const owner = ownerSchema.parse(JSON.parse(typeof text === "string" ? text : ""));
    return applicationName(owner.cluster, owner.engine.id) === name ? owner : null;
  } catch {
    return null;
  }
}

/** Environments occur at several depths of a configuration. */
function hides(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === hiddenValue;
  return Object.values(value).some(hides);
}
