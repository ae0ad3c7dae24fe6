import type { EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import { type GatewayConfig, gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { GeneratedFile } from "@/server/contracts/studio";
import type { Answer } from "../connector/connector";
import type { EngineHost } from "../connector/engineHost";
import { plannedRouting } from "./plannedRouting";
import type { RollOutContext } from "./rollOutContext";

type Host = Pick<EngineHost, "generate" | "actual">;

export interface FileForm {
  readonly language: GeneratedFile["language"];
  readonly ending: string;
}

/**
 * The texts that a plan writes on a cluster, with the present texts: one for each present or future engine, and the gateway's
 * configuration, last. An engine that both plans share is unchanged.
 *
 * @param form of the host's texts. @returns a sentence if something cannot be read or generated.
 */
export async function generatedFiles(ground: RollOutContext, host: Host, form: FileForm): Promise<Answer<readonly GeneratedFile[]>> {
  const files: GeneratedFile[] = [];
  for (const id of ground.rollOut.topology === "given" ? [] : engineIds(ground)) {
    const file =
      host.generate === undefined ? { ok: true as const, value: orderFile(ground, id) } : await engineFile(ground, id, host, form);
    if (!file.ok) return file;
    files.push(file.value);
  }
  return { ok: true, value: [...files, gatewayFile(ground)] };
}

const engineIds = ({ rollOut }: RollOutContext): readonly string[] => [
  ...new Set([...rollOut.target.engines, ...rollOut.standing].map(({ id }) => id)),
];

async function engineFile(ground: RollOutContext, id: string, { generate, actual }: Host, form: FileForm): Promise<Answer<GeneratedFile>> {
  const { rollOut } = ground;
  const standing = rollOut.standing.some((engine) => engine.id === id);
  const order = rollOut.target.engines.find((engine) => engine.id === id);
  const before = standing ? await actual?.(id, {}) : undefined;
  if (before?.ok === false) return before;
  const stands = before?.value ?? null;
  const file = { name: `${id}.${form.ending}`, language: form.language, before: stands };
  if (order === undefined || generate === undefined) return { ok: true, value: { ...file, after: null } };
  if (standing) return { ok: true, value: { ...file, after: stands } };
  const after = generate(order, ground.target.id);
  return after.ok ? { ok: true, value: { ...file, after: after.value } } : after;
}

/** For an engine that is started by a call: its order. */
function orderFile({ rollOut }: RollOutContext, id: string): GeneratedFile {
  const text = (engines: readonly EngineRequest[]): string | null => {
    const engine = engines.find((one) => one.id === id);
    if (engine === undefined) return null;
    const { model, gpu, tp, pp, placements } = engine;
    return pretty({ id, model, gpu, tp, pp, placements });
  };
  return { name: `${id}.json`, language: "json", before: text(rollOut.standing), after: text(rollOut.target.engines) };
}

function gatewayFile(ground: RollOutContext): GeneratedFile {
  const { config, rollOut, steps } = ground;
  const routing = steps.flatMap(({ action }) => ("routing" in action ? [action.routing] : [])).at(-1) ?? rollOut.routing;
  const after = plannedRouting(ground, routing, rollOut.target.engines);
  // An operator's settings outside of the plan are kept.
  const kept = config?.settings === undefined ? {} : { settings: config.settings };
  return {
    name: "gateway.json",
    language: "json",
    before: config === null ? null : configText(config),
    after: after === null ? null : configText({ ...after, ...kept }),
  };
}

/** In a canonical order: engines by name, members as their schema lists them. */
function configText(config: GatewayConfig): string {
  const replicas = [...config.replicas].sort((a, b) => (a.id < b.id ? -1 : 1));
  return pretty(gatewayConfigSchema.parse({ ...config, replicas }));
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
