import { z } from "zod";
import { deprecatedVariables } from "@/server/contracts/deprecatedNames";
import { catalogueIn } from "@/server/contracts/engine/cardsFile";
import type { Outcome } from "@/server/contracts/studio";
import { cardOf } from "@/solver/hardware/catalogue";
import type { GpuCard } from "@/solver/hardware/gpus";

const portSchema = (usual: number) => z.coerce.number().int().min(1).max(65535).default(usual);

const embeddedSchema = z.object({
  gpu: z.string(),
  nodes: z.array(z.object({ name: z.string().min(1), gpus: z.int().positive() })).min(1),
});

/** The cluster that is emulated by default. */
const DEFAULT_CLUSTER: z.infer<typeof embeddedSchema> = {
  gpu: "l40s",
  nodes: [
    { name: "node1", gpus: 4 },
    { name: "node2", gpus: 4 },
  ],
};

/** An arbitrary fixed number: it makes the deviations of an engine the same at every start. */
const NOISE_SEED = 20_260_921;

const environmentSchema = z.object({
  WEIR_STATE_DIR: z.string().min(1).default(".weir"),
  WEIR_EMULATOR_PORT: portSchema(4620),
  WEIR_DCGM_PORT: portSchema(4621),
  WEIR_ENGINE_PORT_BASE: portSchema(4630),
  WEIR_TIME_SCALE: z.coerce.number().positive().max(1000).default(1),
  WEIR_EMULATOR_NOISE: z.enum(["seeded", "off"]).default("seeded"),
  WEIR_ADMIN_TOKEN: z.string().min(1),
  WEIR_EMBEDDED: z.string().optional(),
});

/** The emulated hardware: nodes of one kind of GPU. */
export interface ClusterShape {
  readonly gpu: string;
  readonly nodes: readonly { readonly name: string; readonly gpus: number }[];
}

export interface Settings {
  readonly stateDir: string;
  readonly adminPort: number;
  readonly dcgmPort: number;
  readonly enginePortBase: number;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
  /** Whether engines deviate from the planner's model, and the seed. */
  readonly noise: { readonly enabled: boolean; readonly seed: number };
  readonly adminToken: string;
  readonly cluster: ClusterShape;
  /** The card of its GPUs. */
  readonly gpu: GpuCard;
}

/** Reads the settings from environment variables; refuses with one sentence that names the variable and its value. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Outcome<{ readonly settings: Settings }> {
  const given = withFormerNames(environment);
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const variable = String(issue?.path[0]);
    if (given[variable] === undefined) return { ok: false, message: `${variable} is not set: the emulator does not start without it.` };
    return { ok: false, message: `${variable} is "${given[variable]}": ${issue?.message}.` };
  }
  const values = parsed.data;
  const cluster = values.WEIR_EMBEDDED === undefined ? DEFAULT_CLUSTER : readCluster(values.WEIR_EMBEDDED);
  if (cluster === undefined) {
    return { ok: false, message: `WEIR_EMBEDDED is ${values.WEIR_EMBEDDED}: give JSON such as ${JSON.stringify(DEFAULT_CLUSTER)}.` };
  }
  const { catalogue, problem } = catalogueIn(values.WEIR_STATE_DIR);
  const gpu = cardOf(catalogue.gpus, cluster.gpu);
  if (gpu === undefined) {
    const unknown = `WEIR_EMBEDDED names the GPU "${cluster.gpu}": known are ${Object.keys(catalogue.gpus).join(", ")}.`;
    return { ok: false, message: problem === null ? unknown : `${unknown} ${problem}` };
  }
  return {
    ok: true,
    settings: {
      stateDir: values.WEIR_STATE_DIR,
      adminPort: values.WEIR_EMULATOR_PORT,
      dcgmPort: values.WEIR_DCGM_PORT,
      enginePortBase: values.WEIR_ENGINE_PORT_BASE,
      timeScale: values.WEIR_TIME_SCALE,
      noise: { enabled: values.WEIR_EMULATOR_NOISE === "seeded", seed: NOISE_SEED },
      adminToken: values.WEIR_ADMIN_TOKEN,
      cluster,
      gpu,
    },
  };
}

/** The environment, including values given under former names. */
function withFormerNames(environment: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  const given = Object.entries(deprecatedVariables).map(([name, former]) => [name, environment[name] ?? environment[former]]);
  return { ...environment, ...Object.fromEntries(given) };
}

function readCluster(text: string): ClusterShape | undefined {
  try {
    return embeddedSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
