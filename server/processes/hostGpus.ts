import type { Answer } from "@/server/clusters/connector/connector";
import { askNvidiaSmi, nvidiaSmiRows } from "@/server/telemetry/nvidiaSmi";
import { findGpu } from "@/solver/hardware/aliases";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { ProcessConnection } from "./processConnection";

export interface HostGpus {
  /** Id of their card. */
  readonly card: string;
  readonly count: number;
  /** The processes on them, whoever started them. A container sees only its own processes. */
  readonly uses: readonly GpuUse[];
}

interface GpuUse {
  readonly gpu: number;
  readonly pid: number;
  readonly program: string;
}

export interface HostGpuOptions {
  /** Name or path of nvidia-smi. */
  readonly command: string;
  readonly node: string;
  readonly cards: () => CardCatalogue["gpus"];
  /** The connection's data about them. */
  readonly given: ProcessConnection["gpus"];
}

/** The GPUs and nvidia-smi's numbering; they do not change while a driver runs, but it may be reloaded. */
interface Inventory {
  readonly card: string;
  readonly indexOf: ReadonlyMap<string, number>;
  readonly readAtMs: number;
}

const inventoryHoldsMs = 60_000;

/** nvidia-smi takes a second or two if the driver is not kept loaded. */
const smiLimitMs = 5_000;

/** Reads this host's GPUs: from nvidia-smi if it is installed, otherwise, and for cores of its processor, from the connection. Obstacles are returned as a sentence. */
export function createHostGpus(options: HostGpuOptions): (limitMs?: number) => Promise<Answer<HostGpus>> {
  const { command, given } = options;
  let inventory: Inventory | null = null;

  return async (limitMs = smiLimitMs) => {
    if (given?.processor) return { ok: true, value: { card: given.card, count: given.count, uses: [] } };
    const timeoutMs = Math.min(limitMs, smiLimitMs);
    if (inventory === null || Date.now() - inventory.readAtMs > inventoryHoldsMs) {
      const read = await readInventory(options, timeoutMs);
      if (!read.ok) return read;
      inventory = read.value;
    }
    if (inventory === null) return given === undefined ? noGpus : { ok: true, value: { card: given.card, count: given.count, uses: [] } };
    const table = await smiRows(command, "--query-compute-apps=gpu_uuid,pid,process_name", timeoutMs);
    if (!table.ok) return table;
    const { card, indexOf } = inventory;
    const uses = table.value.flatMap(([uuid = "", pid = "", program = ""]) => {
      const gpu = indexOf.get(uuid);
      return gpu === undefined ? [] : [{ gpu, pid: Number(pid), program }];
    });
    return { ok: true, value: { card, count: indexOf.size, uses } };
  };
}

const noGpus = {
  ok: false,
  message:
    "nvidia-smi was not found on this host, and the connection does not say which GPUs it has: add a line such as gpus: { card: h100-sxm, count: 8 }.",
} as const;

/** null if there is no nvidia-smi. */
async function readInventory({ command, node, cards, given }: HostGpuOptions, timeoutMs: number): Promise<Answer<Inventory | null>> {
  const smi = await askNvidiaSmi({ command, timeoutMs, node });
  if (!smi.ok) return smi.kind === "missing" ? { ok: true, value: null } : { ok: false, message: `${smi.reason}.` };
  const names = [...new Set(smi.readings.map(({ name }) => name))];
  const known = names.map((name) => findGpu(name, cards())?.id ?? given?.card);
  const [card, another] = new Set(known);
  if (card === undefined) return { ok: false, message: `No card of Weir's is for "${names.join('", "')}": name one in the connection.` };
  if (another !== undefined) return { ok: false, message: `This host has GPUs of several types (${names.join(", ")}); engines need one.` };
  const table = await smiRows(command, "--query-gpu=uuid,index", timeoutMs);
  if (!table.ok) return table;
  const indexOf = new Map(table.value.map(([uuid = "", index = ""]) => [uuid, Number(index)]));
  return { ok: true, value: { card, indexOf, readAtMs: Date.now() } };
}

/** As `nvidiaSmiRows`, with a sentence if there is no answer. */
async function smiRows(command: string, query: string, timeoutMs: number): Promise<Answer<readonly (readonly string[])[]>> {
  const table = await nvidiaSmiRows(command, query, timeoutMs);
  if (table.ok) return { ok: true, value: table.rows };
  const why = table.kind === "missing" ? "it is not there any more" : table.why;
  return { ok: false, message: `${command} cannot tell what uses the GPUs: ${why}.` };
}
